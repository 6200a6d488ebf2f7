"""``word_order/alignment_quality``, ours: scores over a range of alignment and of word order."""
