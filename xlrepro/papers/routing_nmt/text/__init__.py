"""Text of the translation corpora: one normalisation, sub-word pieces, overlap, scores."""
