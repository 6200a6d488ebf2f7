"""Word vectors built from registered open text and dictionaries."""
