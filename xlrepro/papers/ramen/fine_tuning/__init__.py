"""Heads with the encoder tuned under them, beside those on frozen states."""
