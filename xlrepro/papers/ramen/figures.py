"""What only RAMEN's pages show: how far each adaptation came."""

# Heading -> path in the details of a record, for `page.details`.
ADAPTATIONS = {
    "estimated rows": "adaptation.*.estimated",
    "subwords, embeddings alone": "adaptation.*.embeddings.pieces",
    "subwords, everything": "adaptation.*.end.pieces",
    "masked-LM accuracy at the start, %": "adaptation.*.start.held_out",
    "after the embeddings, %": "adaptation.*.embeddings.held_out",
    "at the end, %": "adaptation.*.end.held_out",
    "of English, before, %": "adaptation.*.english.all.held_out",
}
# 72 sequences of 256 subwords: 25,000 updates in one language, 150,000 in two: 5.99 billion.
PAPER_SUBWORDS = 72 * 256 * (25_000 + 2 * 150_000)
CAPTION = (
    "Adaptations: one stands behind each row, so how much another would differ is not seen. "
    f"The paper's read about {PAPER_SUBWORDS / 1e9:.1f} billion subwords. Accuracy is that of "
    "masked subwords of held-out text"
)
