"""A family of artificial languages: corpora, parallel text, plain text, dictionaries, known senses.

Languages of a family say the same meanings, so that sentence i of two corpora are translations.
Everything depends on the seed, the code, the split and the numbers given, and on nothing else.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import combinations, islice

import numpy as np

from xlrepro.artificial.meanings import Clause, Meaning, Sampler
from xlrepro.artificial.sentences import Language, Node, Realisation, sentence_of
from xlrepro.artificial.words import (
    SOURCE,
    Concept,
    Lexicon,
    Typology,
    build_lexicon,
    load_ontology,
    parameters,
    seeded,
)
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError
from xlrepro.values import read_yaml

KINDS = {"mixed": 0.3, "statements": 0.0, "requests": 1.0}  # share of requests


class Family:
    """Languages that say the same meanings.

    Args:
        seed: of the words and of everything drawn later.
        typologies: own languages, which win over the presets of the same code.
        pairs: so many pairs of frequent concepts of different kinds share a word in the source
            language and have two in the others: senses that are known.

    Attributes:
        pairs: the keys of the concepts that share a word.

    Example:
        >>> family = Family(seed=0)
        >>> english, japanese = family.parallel("en", "ja", 1)[0]
        >>> english.intent == japanese.intent
        True
        >>> family = Family(0, pairs=3)
        >>> one, other = family.pairs[0]
        >>> [family.language(c).stems[one] == family.language(c).stems[other] for c in ("en", "de")]
        [True, False]
    """

    def __init__(
        self, seed: int = 0, typologies: Iterable[Typology] = (), *, pairs: int = 0
    ) -> None:
        self.seed = seed
        self.pairs = _pairs_of_kinds(seed, pairs)
        self._typologies = {typology.code: typology for typology in typologies}
        self._languages: dict[str, Language] = {}

    def language(self, code: str) -> Language:
        """Return a language; its stems by concept key are ``language.stems``.

        Raises:
            SettingsError: if there is no such language.
        """
        if code not in self._languages:
            typology = self._typologies.get(code) or parameters(code)
            lexicon = build_lexicon(typology, self.seed)
            if code == SOURCE:
                shared = {other: lexicon.stems[kept] for kept, other in self.pairs}
                lexicon = Lexicon({**lexicon.stems, **shared}, lexicon.suffixes)
            self._languages[code] = Language(typology, lexicon)
        return self._languages[code]

    def meanings(
        self, split: str, seed: int = 0, kind: str = "mixed", domain: str | None = None
    ) -> Iterator[Meaning]:
        """Yield meanings without end; every language's corpus of this split and seed says these.

        Args:
            split: any name; splits are drawn independently.
            seed: of the corpus.
            kind: ``"statements"``, ``"requests"``, or ``"mixed"`` (7 in 10 are statements).
            domain: of requests, one of the ontology's; needs ``kind="requests"``.

        Raises:
            SettingsError: if the kind or domain is unknown.
        """
        if kind not in KINDS:
            raise SettingsError(f"kind of meanings is {kind!r}: choose from {', '.join(KINDS)}")
        domains = load_ontology().domains
        if domain is not None and (kind != "requests" or domain not in domains):
            known = ", ".join(domains)
            raise SettingsError(f"domain {domain!r} of {kind}: give kind 'requests' and {known}")
        rng = seeded(self.seed, "meanings", split, seed, kind, domain)
        sampler = Sampler(rng)
        while True:
            asks = sampler.chance() < KINDS[kind]
            yield sampler.request(domain) if asks else sampler.statement()

    def realisations(
        self,
        code: str,
        n: int,
        split: str = "train",
        seed: int = 0,
        kind: str = "mixed",
        domain: str | None = None,
    ) -> list[Realisation]:
        """Return n sentences with their meanings and the sense of every word."""
        return list(islice(self.stream(code, split, seed, kind, domain), n))

    def stream(
        self, code: str, split: str, seed: int = 0, kind: str = "mixed", domain: str | None = None
    ) -> Iterator[Realisation]:
        """Yield sentences without end; :meth:`realisations` returns the first ones."""
        meanings = self.meanings(split, seed, kind, domain)
        rng = seeded(self.seed, "words", code, split, seed, kind, domain)
        return self.language(code).realise(meanings, rng)

    def corpus(
        self,
        code: str,
        n: int,
        split: str = "train",
        seed: int = 0,
        kind: str = "mixed",
        domain: str | None = None,
    ) -> list[Sentence]:
        """Return n sentences with all layers: UPOS, heads, relations, entities, slots, intent.

        Corpora of two languages with the same split, seed, kind and domain say the same things,
        sentence by sentence; different splits say different things. The first sentences of a longer
        corpus are those of a shorter one.
        """
        return [sentence_of(r) for r in self.realisations(code, n, split, seed, kind, domain)]

    def parallel(
        self, code_a: str, code_b: str, n: int, seed: int = 0, split: str = "parallel"
    ) -> list[tuple[Sentence, Sentence]]:
        """Return n pairs of sentences that say the same in two languages."""
        return list(zip(self.corpus(code_a, n, split, seed), self.corpus(code_b, n, split, seed)))

    def text(self, code: str, n: int, seed: int = 0) -> list[tuple[str, ...]]:
        """Return n tokenised sentences of plain text, not parallel to any other language's."""
        return [r.forms for r in self.realisations(code, n, f"text {code}", seed)]

    def dictionary(self, code_a: str, code_b: str) -> list[tuple[str, str]]:
        """Return all true translations, form by form, the most frequent concepts first.

        A form with several senses has one pair per translation.
        """
        first, second = self.language(code_a), self.language(code_b)
        pairs: dict[tuple[str, str], None] = {}
        for concept in sorted(load_ontology().concepts.values(), key=lambda c: c.rank):
            pairs |= dict.fromkeys(zip(first.paradigm(concept), second.paradigm(concept)))
        return list(pairs)


@cache
def family_of(seed: int) -> Family:
    """Return the family of a seed, the same one within a process: words are invented once."""
    return Family(seed)


# ---- known senses

NOUNS = ("person", "food", "place", "idea", "object", "animal")
GROUPS = ("verbs", "adjectives")


def _pairs_of_kinds(seed: object, count: int) -> list[tuple[str, str]]:
    """Return pairs of keys of concepts of different kinds, frequent ones first.

    A noun's kind is its semantic class, the others' their group. No concept is in two pairs, and
    none is a hypernym.
    """
    rng, ontology = seeded(seed, "ambiguity"), load_ontology()
    # The most frequent last, to be popped.
    by_kind = {kind: ontology.members(kind)[:0:-1] for kind in NOUNS}
    by_kind |= {group: ontology.members(group)[::-1] for group in GROUPS}
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count and (choices := [k for k in by_kind if by_kind[k]])[1:]:
        first, second = rng.choice(list(combinations(choices, 2)))
        pairs.append((by_kind[first].pop().key, by_kind[second].pop().key))
    return pairs


def lists(family: Family, code: str, n: int, seed: int = 0) -> list[Realisation]:
    """Return n lists of nouns for things of one kind each: "bread story soup".

    All that tells the sense of an ambiguous word is the kind of the words around it; of those there
    are few, so that small models learn it in seconds. Only pairs of two nouns occur, with the two
    most frequent nouns of each kind that are in no pair.

    Args:
        family: whose pairs are looked at.
        code: of the language.
        n: number of lists, four to eight words each.
        seed: of the draw.
    """
    rng, ontology = seeded(family.seed, "lists", code, seed), load_ontology()
    stems = family.language(code).stems
    concepts = [[ontology[key] for key in pair] for pair in family.pairs]
    paired = {key for pair in family.pairs for key in pair}
    kinds: dict[str, list[Concept]] = {}
    for pair in concepts:
        if all(concept.group == "nouns" for concept in pair):
            for concept in pair:
                kinds.setdefault(concept.kind, []).append(concept)
    for kind, found in kinds.items():
        found += [c for c in ontology.members(kind)[1:] if c.key not in paired][:2]
    made = []
    for _ in range(n):
        kind = rng.choice(sorted(kinds))
        drawn = [rng.choice(kinds[kind]) for _ in range(rng.randint(4, 8))]
        words = [Node(stems[c.key], "NOUN", c.key) for c in drawn]
        made.append(Realisation(words, Meaning(Clause(drawn[0]))))
    return made


# ---- word-order features


_names = read_yaml(resources.files(__package__) / "ontology.yaml")["word_order_features"].split()
# (part of speech of the dependent, of the head, relation) of the 52 features f0 … f51.
TYPES: tuple[tuple[str, ...], ...] = tuple(tuple(name.split("/")) for name in _names)


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
