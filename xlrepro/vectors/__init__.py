"""Word vectors: files, tables, look-up with back-off, sentences as rows, how good a set is."""
