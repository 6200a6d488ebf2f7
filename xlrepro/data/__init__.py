"""Corpora: the registry and its downloads, one reader per format, artificial languages."""
