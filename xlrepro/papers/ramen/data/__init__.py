"""Text without labels, text with them, and the paper's own data from folders."""
