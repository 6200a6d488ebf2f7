"""Artificial languages: the built-in corpora, generated from meanings, annotated by construction.

No word in here is a word of a real language, and no language in here is a real one.

>>> family = Family(seed=1)
>>> sentence = family.corpus("de", 1, kind="calendar")[0]
>>> len(sentence.tokens) == len(sentence.upos) == len(sentence.slots)
True
"""

from xlrepro.artificial.family import Family, family_of, lists
from xlrepro.artificial.meanings import Meaning, Triple, contradicted, graph, sentiment, weakened
from xlrepro.artificial.sentences import Language, Realisation, sentence_of
from xlrepro.artificial.words import LANGUAGES, Typology, load_ontology, parameters, seeded

# Raised when what the languages say changes: names of what is built from them have it.
VERSION = 2

__all__ = [
    "LANGUAGES", "VERSION", "Family", "Language", "Meaning", "Realisation", "Triple", "Typology",
    "contradicted", "family_of", "graph", "lists", "load_ontology", "parameters",
    "seeded", "sentence_of", "sentiment", "weakened",
]  # fmt: skip
