"""The English models to begin with: our own, released ones, and the paper's from folders."""
