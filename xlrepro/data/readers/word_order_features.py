"""The word-order features of Ahmad et al. (2019) and the distance between languages they give.

Each of 31 languages has 52 features: for the most frequent types of dependency (tag of the
dependent, tag of the head, relation) the share in which the head follows its dependent, measured on
Universal Dependencies; 0.5 where a type does not occur. The distance between two languages is the
mean absolute difference of their features (word order paper, Table 2, column "Dis. to English").
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from xlrepro.data import registry
from xlrepro.data.sentences import Sentence

# (part of speech of the dependent, of the head, relation) of the features f0 … f51.
_TYPES = """
  ADJ/ROOT/root ADJ/ADJ/conj ADJ/NOUN/amod ADP/NOUN/case ADP/PRON/case ADP/PROPN/case
  ADV/ADJ/advmod ADV/ADV/advmod ADV/NOUN/advmod ADV/VERB/advmod AUX/ADJ/cop AUX/NOUN/cop
  AUX/VERB/aux CCONJ/ADJ/cc CCONJ/NOUN/cc CCONJ/PROPN/cc CCONJ/VERB/cc DET/NOUN/det
  NOUN/ROOT/root NOUN/ADJ/nsubj NOUN/ADJ/obl NOUN/NOUN/appos NOUN/NOUN/conj NOUN/NOUN/nmod
  NOUN/NOUN/nsubj NOUN/VERB/nsubj NOUN/VERB/obj NOUN/VERB/obl NUM/NOUN/nummod PRON/NOUN/nmod
  PRON/VERB/iobj PRON/VERB/nsubj PRON/VERB/obj PRON/VERB/obl PROPN/NOUN/nmod PROPN/PROPN/conj
  PROPN/PROPN/flat PROPN/VERB/nsubj PROPN/VERB/obj PROPN/VERB/obl PUNCT/ADJ/punct
  PUNCT/NOUN/punct PUNCT/NUM/punct PUNCT/PROPN/punct PUNCT/VERB/punct SCONJ/VERB/mark
  VERB/ROOT/root VERB/NOUN/acl VERB/VERB/advcl VERB/VERB/ccomp VERB/VERB/conj VERB/VERB/xcomp
"""
TYPES = tuple(tuple(name.split("/")) for name in _TYPES.split())


def table() -> dict[str, np.ndarray]:
    """Return the registered features: by language, an array of shape ``(52,)``, each from 0 to 1.

    Raises:
        DataError: if the registered table cannot be had.
    """
    path = registry.fetch("word-order-distance", "features")
    features = pd.read_csv(path, sep="\t", index_col="lang", float_precision="round_trip")
    return {str(language): row.to_numpy(float) for language, row in features.iterrows()}


def mean_absolute_difference(one: Sequence[float] | np.ndarray, other: np.ndarray) -> float:
    """Return the distance between two feature vectors, each of shape ``(52,)``.

    Example:
        >>> mean_absolute_difference([0.0, 1.0], [0.5, 1.0])
        0.25
    """
    return float(np.mean(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float))))


def features(sentences: Iterable[Sentence]) -> np.ndarray:
    """Return the 52 word-order features of sentences that have UPOS, heads and relations.

    A feature is the share of dependents that stand before their head, among all dependents with one
    part of speech, head part of speech and relation (without its subtype); 0.5 where there are
    none. Order and meaning are those of the table of Ahmad et al. (2019), which does not name its
    columns: they were identified on the UD 2.2 treebanks of 31 languages; on English EWT the types
    give the table's row exactly.

    Returns:
        float64 array (52,).

    Raises:
        ValueError: if a sentence has no UPOS, heads or relations.

    Example:
        >>> s = Sentence(("the", "dog"), ("DET", "NOUN"), (2, 0), ("det", "root"))
        >>> float(features([s])[17])  # DET/NOUN/det
        1.0
    """
    seen: Counter[tuple[str, ...]] = Counter()
    before: Counter[tuple[str, ...]] = Counter()
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
    return np.array([before[k] / seen[k] if seen[k] else 0.5 for k in TYPES])
