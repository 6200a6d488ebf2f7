"""What is measured without training: word-order distances, coverage and alignment of vectors."""
