"""Sentences that are computed from records."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Statement:
    """Sentences computed from records; as text a line without their numbers.

    Attributes:
        title: what they are about.
        sentences: whole ones, plain text.
    """

    title: str
    sentences: tuple[str, ...]

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)

    def __repr__(self) -> str:
        """Return the title and the number of sentences."""
        return f"{self.title}: {len(self.sentences)} sentences computed from records"
