"""Languages in which chosen pairs of concepts share a word, so that its senses are known.

The languages of a :class:`Family` have ambiguous words too, but few and rare ones. Here pairs of
frequent nouns of different kinds, verbs and adjectives get one word in some languages and keep two
in the others: a translation tells which sense is meant, and so do the words around.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from xlrepro.artificial.family import Family, Language
from xlrepro.artificial.meaning import Clause, Meaning
from xlrepro.artificial.ontology import Concept, load_ontology, seeded
from xlrepro.artificial.tree import Node, Realisation

NOUNS = ("person", "food", "place", "idea", "object", "animal")
GROUPS = ("verbs", "adjectives")


def ambiguous_pairs(seed: object, count: int) -> list[tuple[str, str]]:
    """Return pairs of keys of concepts of different kinds, frequent ones first.

    A noun's kind is its semantic class, the others' their group. No concept is in two pairs, and
    none is a hypernym.

    Args:
        seed: of the draw.
        count: number of pairs at most.

    Example:
        >>> len(ambiguous_pairs(0, 4))
        4
    """
    rng = seeded(seed, "ambiguity")
    by_kind: dict[str, list[Concept]] = {kind: [] for kind in NOUNS + GROUPS}
    for concept in load_ontology().concepts.values():
        if concept.group == "nouns" and concept.kind in by_kind and concept.rank > 0:
            by_kind[concept.kind].append(concept)
        elif concept.group in GROUPS:
            by_kind[concept.group].append(concept)
    for concepts in by_kind.values():
        concepts.sort(key=lambda concept: -concept.rank)  # the most frequent last
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        choices = list(combinations([kind for kind in by_kind if by_kind[kind]], 2))
        if not choices:
            break
        first, second = rng.choice(choices)
        pairs.append((by_kind[first].pop().key, by_kind[second].pop().key))
    return pairs


class AmbiguousFamily(Family):
    """A family in which some languages have one word for both concepts of a pair.

    Args:
        seed: of the family and of the pairs.
        pairs: number of pairs.
        codes: languages that do not tell them apart.

    Attributes:
        pairs: the keys of the concepts.

    Example:
        >>> family = AmbiguousFamily(0, 3, ("en",))
        >>> (one, other), *_ = family.pairs
        >>> [family.language(c).lexicon.stems[one] == family.language(c).lexicon.stems[other]
        ...  for c in ("en", "de")]
        [True, False]
    """

    def __init__(self, seed: int = 0, pairs: int = 20, codes: Sequence[str] = ("en",)) -> None:
        super().__init__(seed)
        self.pairs = ambiguous_pairs(seed, pairs)
        self.codes = tuple(codes)
        self._merged: dict[str, Language] = {}

    def language(self, code: str) -> Language:
        """Return a language; see :meth:`Family.language`."""
        plain = super().language(code)
        if code not in self.codes or not self.pairs:
            return plain
        if code not in self._merged:
            stems, shared = dict(plain.lexicon.stems), dict(plain.lexicon.shared)
            for kept, other in self.pairs:
                stems[other] = stems[kept]
                shared[other] = kept
            lexicon = replace(plain.lexicon, stems=stems, shared=shared)
            self._merged[code] = Language(plain.typology, lexicon)
        return self._merged[code]


def lists(family: AmbiguousFamily, code: str, n: int, seed: int = 0) -> list[Realisation]:
    """Return n lists of nouns and names of things of one kind each: "bread story soup".

    All that tells the sense of an ambiguous word is the kind of the words around it; of those there
    are few, so that small models learn it in seconds. Only pairs of two nouns occur, with the two
    most frequent nouns of each kind that are in no pair.

    Args:
        family: whose pairs are looked at.
        code: of the language.
        n: number of lists, four to eight words each.
        seed: of the draw.

    Example:
        >>> family = AmbiguousFamily(0, 12)
        >>> {len(found.words) for found in lists(family, "en", 50)} <= {4, 5, 6, 7, 8}
        True
    """
    rng = seeded(family.seed, "lists", code, seed)
    ontology, language = load_ontology(), family.language(code)
    concepts = [[ontology[key] for key in pair] for pair in family.pairs]
    nouns = [pair for pair in concepts if all(c.group == "nouns" for c in pair)]
    paired = {concept.key for pair in concepts for concept in pair}
    kinds: dict[str, list[Concept]] = {}
    for concept in (c for pair in nouns for c in pair):
        kinds.setdefault(concept.kind, []).append(concept)
    for kind, found in kinds.items():
        plain = [c for c in ontology.concepts.values() if c.kind == kind and c.group == "nouns"]
        found += [c for c in plain if c.key not in paired and c.rank > 0][:2]
    made = []
    for _ in range(n):
        kind = rng.choice(sorted(kinds))
        drawn = [rng.choice(kinds[kind]) for _ in range(rng.randint(4, 8))]
        words = [Node(language.lexicon.stems[c.key], "NOUN", c.key) for c in drawn]
        made.append(Realisation(words, Meaning(Clause(drawn[0]))))
    return made
