"""The 52 word-order features of a parsed corpus.

Each feature is the share of dependents that stand before their head, among all dependents with one
part of speech, head part of speech and relation; 0.5 where a corpus has none. The features, their
order and the meaning of 0.5 are those of the table of Ahmad et al. (2019), which does not name its
columns. They were identified by matching the shares of all triples on the UD 2.2 treebanks of 31
languages with the columns, which turned out to be sorted by name. On UD 2.2 English EWT train the
types below give the table's English row exactly, all 52 values. (Columns 0, 1, 18, 22, 35, 36, 46
and 50 are 0 wherever they are seen: roots, coordination and names, told apart by the sorting and
by the languages that lack them.)
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from xlrepro.data.sentences import Sentence

# (part of speech of the dependent, of the head, relation), in the table's order, f0 ... f51.
TYPES: tuple[tuple[str, str, str], ...] = (
    ("ADJ", "ROOT", "root"),
    ("ADJ", "ADJ", "conj"),
    ("ADJ", "NOUN", "amod"),
    ("ADP", "NOUN", "case"),
    ("ADP", "PRON", "case"),
    ("ADP", "PROPN", "case"),
    ("ADV", "ADJ", "advmod"),
    ("ADV", "ADV", "advmod"),
    ("ADV", "NOUN", "advmod"),
    ("ADV", "VERB", "advmod"),
    ("AUX", "ADJ", "cop"),
    ("AUX", "NOUN", "cop"),
    ("AUX", "VERB", "aux"),
    ("CCONJ", "ADJ", "cc"),
    ("CCONJ", "NOUN", "cc"),
    ("CCONJ", "PROPN", "cc"),
    ("CCONJ", "VERB", "cc"),
    ("DET", "NOUN", "det"),
    ("NOUN", "ROOT", "root"),
    ("NOUN", "ADJ", "nsubj"),
    ("NOUN", "ADJ", "obl"),
    ("NOUN", "NOUN", "appos"),
    ("NOUN", "NOUN", "conj"),
    ("NOUN", "NOUN", "nmod"),
    ("NOUN", "NOUN", "nsubj"),
    ("NOUN", "VERB", "nsubj"),
    ("NOUN", "VERB", "obj"),
    ("NOUN", "VERB", "obl"),
    ("NUM", "NOUN", "nummod"),
    ("PRON", "NOUN", "nmod"),
    ("PRON", "VERB", "iobj"),
    ("PRON", "VERB", "nsubj"),
    ("PRON", "VERB", "obj"),
    ("PRON", "VERB", "obl"),
    ("PROPN", "NOUN", "nmod"),
    ("PROPN", "PROPN", "conj"),
    ("PROPN", "PROPN", "flat"),
    ("PROPN", "VERB", "nsubj"),
    ("PROPN", "VERB", "obj"),
    ("PROPN", "VERB", "obl"),
    ("PUNCT", "ADJ", "punct"),
    ("PUNCT", "NOUN", "punct"),
    ("PUNCT", "NUM", "punct"),
    ("PUNCT", "PROPN", "punct"),
    ("PUNCT", "VERB", "punct"),
    ("SCONJ", "VERB", "mark"),
    ("VERB", "ROOT", "root"),
    ("VERB", "NOUN", "acl"),
    ("VERB", "VERB", "advcl"),
    ("VERB", "VERB", "ccomp"),
    ("VERB", "VERB", "conj"),
    ("VERB", "VERB", "xcomp"),
)
UNSEEN = 0.5


def features(sentences: Iterable[Sentence]) -> np.ndarray:
    """Return the word-order features of sentences that have UPOS, heads and relations.

    Relations count without their subtype (``acl:relcl`` as ``acl``).

    Returns:
        float64 array (52,), each the share of dependents that stand before their head.

    Raises:
        ValueError: if a sentence has no UPOS, heads or relations.

    Example:
        >>> s = Sentence(("the", "dog"), ("DET", "NOUN"), (2, 0), ("det", "root"))
        >>> float(features([s])[17])  # DET/NOUN/det
        1.0
    """
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    before: dict[tuple[str, str, str], int] = defaultdict(int)
    for sentence in sentences:
        if sentence.upos is None or sentence.heads is None or sentence.deprels is None:
            raise ValueError("word-order features need sentences with UPOS, heads and relations")
        for position, (upos, head, relation) in enumerate(
            zip(sentence.upos, sentence.heads, sentence.deprels), start=1
        ):
            head_upos = sentence.upos[head - 1] if head else "ROOT"
            kind = (upos, head_upos, relation.split(":")[0])
            seen[kind] += 1
            before[kind] += head > position
    return np.array([before[k] / seen[k] if seen[k] else UNSEEN for k in TYPES])
