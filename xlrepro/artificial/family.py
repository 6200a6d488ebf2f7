"""A family of artificial languages: corpora, parallel text, plain text, dictionaries."""

import functools
import random
from collections.abc import Iterable, Iterator
from typing import Literal

from xlrepro.artificial.clauses import ClauseBuilder
from xlrepro.artificial.lexicon import (
    SOURCE,
    Lexicon,
    Roots,
    build_lexicon,
    invent_roots,
    source_pairs,
)
from xlrepro.artificial.meaning import Meaning
from xlrepro.artificial.morphology import Morphology
from xlrepro.artificial.ontology import Concept, load_ontology, seeded
from xlrepro.artificial.requests import DOMAINS, RequestSampler
from xlrepro.artificial.sampler import MeaningSampler
from xlrepro.artificial.tree import Node, Realisation, in_order
from xlrepro.artificial.typology import Typology, parameters
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError

Kind = Literal["mixed", "statements", "requests"]
KINDS = ("mixed", "statements", "requests")


class Language:
    """One language: its typology, its words, and how it says a meaning.

    Attributes:
        typology: the parameters.
        lexicon: stems, suffixes and shared words.
        morphology: word forms.
    """

    def __init__(self, typology: Typology, lexicon: Lexicon) -> None:
        self.typology = typology
        self.code = typology.code
        self.lexicon = lexicon
        self.morphology = Morphology(typology, lexicon)

    def builder(self, rng: random.Random) -> ClauseBuilder:
        """Return what turns meanings into trees, drawing from ``rng``."""
        return ClauseBuilder(load_ontology(), self.morphology, rng)

    def realise(self, meanings: Iterable[Meaning], rng: random.Random) -> Iterator[Realisation]:
        """Yield each meaning in this language's words, in order."""
        builder = self.builder(rng)
        scrambling = self.typology.scrambling
        for meaning in meanings:
            words = _without_idle_commas(in_order(builder.tree(meaning)))
            _mark_slots(words)
            if scrambling and rng.random() < scrambling:
                words = _scrambled(words, rng)
            for position, word in enumerate(words, start=1):
                word.position = position
            yield Realisation(words, meaning)


def _without_idle_commas(words: list[Node]) -> list[Node]:
    """Drop commas that open the sentence or stand next to another mark."""
    kept: list[Node] = []
    for word in words:
        if word.upos == "PUNCT":
            if kept and kept[-1].form == ",":
                kept.pop()
            if word.form == "," and not kept:
                continue
        kept.append(word)
    return kept


def _mark_slots(words: list[Node]) -> None:
    """Spread a phrase's slot over its words, except its adposition, as BIO tags."""
    for node in [word for word in words if word.slot]:
        label = node.slot
        inside = [w for w in in_order(node) if not (w.head is node and w.relation == "case")]
        for number, word in enumerate(inside):
            word.slot = f"{'I' if number else 'B'}-{label}"


def _scrambled(words: list[Node], rng: random.Random) -> list[Node]:
    """Let two neighbours change places; names, slots and the final mark stay whole."""
    units: list[list[Node]] = []
    for word in words[:-1]:
        inside = (word.entity or "").startswith("I-") or (word.slot or "").startswith("I-")
        if inside:
            units[-1].append(word)
        else:
            units.append([word])
    if len(units) > 1:
        i = rng.randrange(len(units) - 1)
        units[i], units[i + 1] = units[i + 1], units[i]
    return [word for unit in units for word in unit] + words[-1:]


def sentence_of(realisation: Realisation, identifier: str | None = None) -> Sentence:
    """Return the annotated sentence of a realisation."""
    words = realisation.words
    return Sentence(
        tokens=tuple([word.form for word in words]),
        upos=tuple([word.upos for word in words]),
        heads=tuple([word.head.position if word.head else 0 for word in words]),
        deprels=tuple([word.relation for word in words]),
        entities=tuple([word.entity or "O" for word in words]),
        slots=tuple([word.slot or "O" for word in words]),
        intent=realisation.meaning.intent,
        identifier=identifier,
    )


class Family:
    """Languages that say the same meanings.

    Everything depends on the seed, the code, the split and the numbers given, and on nothing
    else: not on the process, the order of calls or ``PYTHONHASHSEED``. The first sentences of a
    longer corpus are those of a shorter one.

    Args:
        seed: of the lexicons and of everything drawn later.
        typologies: own languages, which win over the presets of the same code.

    Example:
        >>> family = Family(seed=0)
        >>> english, japanese = family.parallel("en", "ja", 1)[0]
        >>> english.intent == japanese.intent
        True
    """

    def __init__(self, seed: int = 0, typologies: Iterable[Typology] = ()) -> None:
        self.seed = seed
        self._typologies = {typology.code: typology for typology in typologies}
        self._languages: dict[str, Language] = {}
        self._roots: dict[str, Roots] = {}
        self._pairs: list[tuple[str, str]] | None = None

    def typology(self, code: str) -> Typology:
        """Return a language's parameters.

        Raises:
            SettingsError: if the code is neither a preset nor one of the own languages.
        """
        return self._typologies.get(code) or parameters(code)

    def _named_roots(self, name: str) -> Roots:
        if name not in self._roots:
            self._roots[name] = invent_roots(load_ontology(), self.seed, name)
        return self._roots[name]

    def language(self, code: str) -> Language:
        """Return a language, its lexicon built on first use.

        Raises:
            SettingsError: if the code is neither a preset nor one of the own languages.
        """
        if code not in self._languages:
            ontology = load_ontology()
            typology = self.typology(code)
            if self._pairs is None:
                self._pairs = source_pairs(ontology, self.seed)
            lexicon = build_lexicon(
                ontology,
                typology,
                self.seed,
                self._named_roots(SOURCE),
                self._named_roots(f"branch {typology.branch}"),
                self._pairs,
            )
            self._languages[code] = Language(typology, lexicon)
        return self._languages[code]

    def meanings(
        self, split: str = "train", seed: int = 0, kind: Kind = "mixed", domain: str | None = None
    ) -> Iterator[Meaning]:
        """Yield meanings without end; every language's corpus of this split and seed says these.

        Args:
            split: any name; splits are drawn independently.
            seed: of the corpus.
            kind: ``"statements"``, ``"requests"``, or ``"mixed"`` (7 in 10 are statements).
            domain: of requests: ``requests.DOMAINS``; needs ``kind="requests"``.

        Raises:
            SettingsError: if the kind or domain is unknown.
        """
        if kind not in KINDS:
            raise SettingsError(f"kind of meanings is {kind!r}: choose from {', '.join(KINDS)}")
        if domain is not None and (kind != "requests" or domain not in DOMAINS):
            raise SettingsError(
                f"domain {domain!r} of {kind}: give kind 'requests' and one of {', '.join(DOMAINS)}"
            )
        return self._stream(seeded(self.seed, "meanings", split, seed, kind, domain), kind, domain)

    def _stream(self, rng: random.Random, kind: Kind, domain: str | None) -> Iterator[Meaning]:
        statements = MeaningSampler(load_ontology(), rng)
        requests = RequestSampler(load_ontology(), rng)
        share = {"mixed": 0.3, "statements": 0.0, "requests": 1.0}[kind]
        while True:
            if rng.random() < share:
                yield requests.meaning(domain)
            else:
                yield statements.meaning()

    def realisations(
        self,
        code: str,
        n: int,
        split: str = "train",
        seed: int = 0,
        kind: Kind = "mixed",
        domain: str | None = None,
    ) -> list[Realisation]:
        """Return n sentences with their meanings and the sense of every word."""
        language = self.language(code)
        meanings = self.meanings(split, seed, kind, domain)
        rng = seeded(self.seed, "words", code, split, seed, kind, domain)
        return [r for _, r in zip(range(n), language.realise(meanings, rng))]

    def corpus(
        self,
        code: str,
        n: int,
        split: str = "train",
        seed: int = 0,
        kind: Kind = "mixed",
        domain: str | None = None,
    ) -> list[Sentence]:
        """Return n sentences with all layers: UPOS, heads, relations, entities, slots, intent.

        Corpora of two languages with the same split, seed, kind and domain say the same things,
        sentence by sentence; different splits say different things.
        """
        return [
            sentence_of(realisation, f"{code}-{split}-{seed}-{number}")
            for number, realisation in enumerate(
                self.realisations(code, n, split, seed, kind, domain), start=1
            )
        ]

    def parallel(
        self, code_a: str, code_b: str, n: int, seed: int = 0, split: str = "parallel"
    ) -> list[tuple[Sentence, Sentence]]:
        """Return n pairs of sentences that say the same in two languages."""
        return list(zip(self.corpus(code_a, n, split, seed), self.corpus(code_b, n, split, seed)))

    def text(self, code: str, n: int, seed: int = 0) -> list[tuple[str, ...]]:
        """Return n tokenised sentences of plain text, not parallel to any other language's."""
        realised = self.realisations(code, n, split=f"text {code}", seed=seed)
        return [tuple([word.form for word in r.words]) for r in realised]

    def dictionary(self, code_a: str, code_b: str) -> list[tuple[str, str]]:
        """Return all true translations, form by form, the most frequent concepts first.

        A form with several senses has one pair per translation.
        """
        first, second = self.language(code_a).morphology, self.language(code_b).morphology
        pairs: dict[tuple[str, str], None] = {}
        for concept in _by_rank(load_ontology().concepts.values()):
            pairs |= dict.fromkeys(zip(first.paradigm(concept), second.paradigm(concept)))
        return list(pairs)


@functools.cache
def family_of(seed: int) -> Family:
    """Return the family of a seed, the same one within a process: lexicons are built once."""
    return Family(seed)


def _by_rank(concepts: Iterable[Concept]) -> list[Concept]:
    return sorted(concepts, key=lambda concept: concept.rank)
