"""Readers, one per format: a file to sentences, pairs or features."""
