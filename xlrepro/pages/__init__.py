"""What a reader sees: pages of notebooks, tables, plots, and the book that holds them."""
