"""The sentence that every reader returns and every task reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """One tokenised sentence with whichever annotation layers its corpus has.

    Every layer that is not ``None`` has exactly one entry per token.

    Attributes:
        tokens: the words, length n.
        upos: universal part-of-speech tags, n.
        heads: index of each word's head, 1-based, 0 for the root, n.
        deprels: relation of each word to its head, n.
        entities: named entities as BIO tags, n.
        slots: slots of a task-oriented utterance as BIO tags, n.
        intent: the utterance's intent, one per sentence.

    Example:
        >>> Sentence(tokens=("a", "b"), upos=("NOUN", "VERB")).upos
        ('NOUN', 'VERB')
    """

    tokens: tuple[str, ...]
    upos: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    deprels: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    slots: tuple[str, ...] | None = None
    intent: str | None = None

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)
