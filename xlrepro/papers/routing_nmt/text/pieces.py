"""Sub-word pieces: byte-pair encoding (Sennrich et al. 2016) by the ``tokenizers`` library."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

SUFFIX = "</w>"  # the last piece of a word ends with it
UNKNOWN = "<unk>"


class Pieces:
    """Byte-pair encoding learned on tokenised sentences.

    Args:
        sentences: tokens of each sentence.
        operations: number of merges that are learned.

    Example:
        >>> pieces = Pieces([["low", "lower", "low"]], 3)
        >>> pieces.joined(pieces.split(["lower", "low"]))
        ['lower', 'low']
    """

    def __init__(self, sentences: Iterable[Sequence[str]], operations: int) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        counts = Counter(word for sentence in sentences for word in sentence)
        letters = {letter for word in counts for letter in word}
        finals = {word[-1] for word in counts}
        self._bpe = Tokenizer(
            models.BPE(unk_token=UNKNOWN, end_of_word_suffix=SUFFIX, fuse_unk=True)
        )
        self._bpe.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.BpeTrainer(
            # the special piece, all letters, all letters that end a word, one piece per merge
            vocab_size=1 + len(letters) + len(finals) + operations,
            special_tokens=[UNKNOWN],
            end_of_word_suffix=SUFFIX,
            show_progress=False,
        )
        self._bpe.train_from_iterator(_repeated(counts), trainer)
        self._known: dict[str, tuple[str, ...]] = {}

    def split(self, words: Sequence[str]) -> list[str]:
        """Return the pieces of a tokenised sentence; letters never seen become ``<unk>``."""
        return [piece for word in words for piece in self._word(word)]

    def joined(self, pieces: Sequence[str]) -> list[str]:
        """Return the words that pieces make up; a last word without its end is closed."""
        words, word = [], ""
        for piece in pieces:
            word += piece.removesuffix(SUFFIX)
            if piece.endswith(SUFFIX) or piece == UNKNOWN:
                words.append(word)
                word = ""
        return [*words, word] if word else words

    @property
    def vocabulary(self) -> list[str]:
        """All pieces, sorted."""
        return sorted(self._bpe.get_vocab())

    def _word(self, word: str) -> tuple[str, ...]:
        if word not in self._known:
            self._known[word] = tuple(self._bpe.encode(word).tokens)
        return self._known[word]


def _repeated(counts: Counter[str]) -> Iterator[str]:
    """Each word as often as it occurred, in an order of its own: merges break ties by it."""
    for word in sorted(counts):
        yield from (word for _ in range(counts[word]))
