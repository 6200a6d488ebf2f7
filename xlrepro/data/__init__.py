"""Corpora: the registry and its downloads, one reader per format, supplied files."""
