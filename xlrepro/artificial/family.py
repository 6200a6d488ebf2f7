"""A family of artificial languages: corpora, parallel text, plain text, dictionaries, known senses.

Languages of a family say the same meanings, so that sentence i of two corpora are translations.
Everything depends on the seed, the code, the split and the numbers given, and on nothing else.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, islice

from xlrepro.artificial.meanings import Clause, Meaning, Sampler
from xlrepro.artificial.sentences import Language, Node, Realisation, sentence_of
from xlrepro.artificial.words import (
    SOURCE,
    UPOS,
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

    def __init__(self, seed: int = 0, typologies: Iterable[Typology] = (), pairs: int = 0) -> None:
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

    def meanings(self, split: str, seed: int = 0, kind: str = "mixed") -> Iterator[Meaning]:
        """Yield meanings without end; every language's corpus of this split and seed says these.

        Args:
            split: any name; splits are drawn independently.
            seed: of the corpus.
            kind: ``"statements"``, ``"requests"``, ``"mixed"`` (7 in 10 are statements), or the
                domain of requests, such as ``"calendar"``.

        Raises:
            SettingsError: if there is no such kind or domain.
        """
        kind, domain = self._kind(kind)
        sampler = Sampler(seeded(self.seed, "meanings", split, seed, kind, domain))
        while True:
            asks = sampler.chance() < KINDS[kind]
            yield sampler.request(domain) if asks else sampler.statement()

    def realisations(
        self, code: str, n: int, split: str = "train", seed: int = 0, kind: str = "mixed"
    ) -> list[Realisation]:
        """Return n sentences with their meanings and the sense of every word."""
        return list(islice(self.stream(code, split, seed, kind), n))

    def stream(
        self, code: str, split: str, seed: int = 0, kind: str = "mixed"
    ) -> Iterator[Realisation]:
        """Yield sentences without end; :meth:`realisations` returns the first ones."""
        rng = seeded(self.seed, "words", code, split, seed, *self._kind(kind))
        return self.language(code).realise(self.meanings(split, seed, kind), rng)

    def corpus(
        self, code: str, n: int, split: str = "train", seed: int = 0, kind: str = "mixed"
    ) -> list[Sentence]:
        """Return n sentences with all layers: UPOS, heads, relations, entities, slots, intent.

        Corpora of two languages with the same split, seed and kind say the same things, sentence by
        sentence; different splits say different things. The first sentences of a longer corpus are
        those of a shorter one.
        """
        return [sentence_of(r) for r in self.realisations(code, n, split, seed, kind)]

    def parallel(self, code_a: str, code_b: str, n: int) -> list[tuple[Sentence, Sentence]]:
        """Return n pairs of sentences that say the same in two languages."""
        return list(zip(*(self.corpus(code, n, "parallel") for code in (code_a, code_b))))

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

    @staticmethod
    def _kind(kind: str) -> tuple[str, str | None]:
        """Return the kind of meanings, and the domain of requests of one domain."""
        domains = load_ontology().domains
        if kind not in KINDS and kind not in domains:
            known = ", ".join((*KINDS, *domains))
            raise SettingsError(f"kind of meanings is {kind!r}: choose from {known}")
        return ("requests", kind) if kind in domains else (kind, None)


@cache
def family_of(seed: int) -> Family:
    """Return the family of a seed, the same one within a process: words are invented once."""
    return Family(seed)


# ---- known senses

OF_PAIRS = "person", "food", "place", "idea", "object", "animal", "verbs", "adjectives"


def _pairs_of_kinds(seed: object, count: int) -> list[tuple[str, str]]:
    """Return pairs of keys of concepts of different kinds, frequent ones first.

    A noun's kind is its semantic class, the others' their group. No concept is in two pairs, and
    none is a hypernym.
    """
    rng, ontology = seeded(seed, "ambiguity"), load_ontology()
    # The most frequent last, to be popped; the first noun of a class is the others' hypernym.
    by_kind = {k: [c for c in ontology.members(k)[::-1] if c.rank or k in UPOS] for k in OF_PAIRS}
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

    Raises:
        SettingsError: if no pair of the family's is of two nouns.
    """
    rng, ontology = seeded(family.seed, "lists", code, seed), load_ontology()
    stems = family.language(code).stems
    paired = {key for pair in family.pairs for key in pair}
    nouns = [p for p in family.pairs if all(ontology[key].group == "nouns" for key in p)]
    kinds: dict[str, list[Concept]] = {}
    for concept in (ontology[key] for pair in nouns for key in pair):
        kinds.setdefault(concept.kind, []).append(concept)
    if not kinds:
        raise SettingsError("lists of nouns need pairs of nouns: ask for more ambiguous words")
    for kind, found in kinds.items():
        found += [c for c in ontology.members(kind)[1:] if c.key not in paired][:2]
    made = []
    for _ in range(n):
        kind = rng.choice(sorted(kinds))
        drawn = [rng.choice(kinds[kind]) for _ in range(rng.randint(4, 8))]
        words = [Node(stems[c.key], "NOUN", c.key) for c in drawn]
        made.append(Realisation(words, Meaning(Clause(drawn[0]))))
    return made
