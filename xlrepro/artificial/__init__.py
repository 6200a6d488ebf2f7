"""Artificial languages: the built-in corpora, generated from meanings, annotated by construction.

No word in here is a word of a real language, and no language in here is a real one. The presets
carry the codes of real languages because their word order imitates those (``typology.py``).

``gloss.gloss_examples(codes, seed, n)`` gives the glossed sample sentences of the book's page.
``semantics`` reads sentiment, graphs and entailments off a meaning; ``Family.realisations`` keeps
the meaning and the sense of every word beside the words.
"""

from xlrepro.artificial.family import Family, Language, family_of
from xlrepro.artificial.features import features
from xlrepro.artificial.typology import LANGUAGES, Typology, parameters

__all__ = ["LANGUAGES", "Family", "Language", "Typology", "family_of", "features", "parameters"]
