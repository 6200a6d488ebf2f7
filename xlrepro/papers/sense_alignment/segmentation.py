"""Chinese as characters: words are segmented before a language model reads them.

Named entities are annotated per character there, so that each character takes the vector of the
word that it stands in.
"""

from collections.abc import Sequence

from xlrepro.vectors.normalise import simplified
from xlrepro.vectors.open.tokenise import SEGMENTED_LANGUAGES, tokenise


def words_of_characters(characters: Sequence[str], language: str) -> tuple[list[str], list[int]]:
    """Return the words of a sentence and, of each of its tokens, the word it stands in.

    Args:
        characters: tokens of a character or more; other languages' tokens are words already.
        language: its code.

    Example:
        >>> words_of_characters(["a", "b"], "en")
        (['a', 'b'], [0, 1])
    """
    if language not in SEGMENTED_LANGUAGES:
        return list(characters), list(range(len(characters)))
    plain = [simplified(token, language) for token in characters]
    words = tokenise("".join(plain), language)
    if "".join(words) != "".join(plain):  # a token that no segmenter keeps, such as a space
        return plain, list(range(len(plain)))
    ends = []
    for number, word in enumerate(words):
        ends += [number] * len(word)
    places, at = [], 0
    for token in plain:
        places.append(ends[at])
        at += len(token)
    return words, places
