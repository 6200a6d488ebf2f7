"""Texts with labels and without, and what the model reads of them."""
