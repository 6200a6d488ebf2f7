"""Trials: how they are named, run and kept. Knows no paper."""
