"""Concepts, typologies, and the invented words of every artificial language.

No word in here is a word of a real language, and no language in here is a real one. A language
carries the code of a real one because its word order imitates that one's: its shares are those of
the word-order features of Ahmad et al. (2019), rounded (``presets.yaml``).
"""

import random
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import accumulate
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.values import read_yaml

SOURCE = "en"
UPOS = {
    "nouns": "NOUN", "verbs": "VERB", "adjectives": "ADJ", "manner_adverbs": "ADV",
    "time_adverbs": "ADV", "adpositions": "ADP", "subordinators": "SCONJ", "coordinators": "CCONJ",
    "determiners": "DET", "pronouns": "PRON", "auxiliaries": "AUX", "particles": "PART",
    "interjections": "INTJ", "numerals": "NUM", "names": "PROPN",
}  # fmt: skip


def seeded(*parts: object) -> random.Random:
    """Return a generator that depends on the parts alone, not on the process or its hash seed.

    Example:
        >>> seeded(0, "en").random() == seeded(0, "en").random()
        True
    """
    digest = sha256("|".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


@dataclass(frozen=True, slots=True)
class Concept:
    """One sense: what a word stands for, the same in all languages.

    Attributes:
        key: unique name, ``label.group``, such as ``"dog.nouns"``.
        label: for graphs.
        group: the grammatical group, a key of ``UPOS``.
        kind: semantic class of a noun or a name (``"animal"``, ``"first"``), frame of a verb.
        rank: 0 for the most frequent concept of its class.
        polarity: 1 for positive, -1 for negative, else 0.
        hypernym: key of the noun that this one is a kind of.
        takes: of a verb: the kinds of its subject, and those of its object.
    """

    key: str
    label: str
    group: str
    kind: str
    rank: int
    polarity: int = 0
    hypernym: str | None = None
    takes: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def upos(self) -> str:
        """The universal part of speech of words for this concept."""
        return UPOS[self.group]


class Ontology:
    """All concepts of ``ontology.yaml``, drawn by class with Zipf's frequencies.

    Attributes:
        concepts: by key, in a fixed order.
        circumstances: adposition and kind of noun, frequent ones first.
        requests: intent, domain, verbs, what is asked for, and slots of each request.
        domains: of the requests.
        roles: relation, share before the head (a field of `Typology`, or fixed), and ranks on the
            head's left and right, of each role of a dependent.
    """

    def __init__(self) -> None:
        entries = read_yaml(resources.files(__package__) / "ontology.yaml")
        self._polarity = dict.fromkeys(entries["positive"].split(), 1)
        self._polarity |= dict.fromkeys(entries["negative"].split(), -1)
        self.circumstances: list[tuple[str, str]] = entries["circumstances"]
        self.requests: list[tuple[str, str, str, str, str]] = entries["requests"]
        self.roles: dict[str, tuple[str, str, int, int]] = entries["roles"]
        self.domains = tuple(dict.fromkeys(request[1] for request in self.requests))
        self.concepts: dict[str, Concept] = {}
        self._classes: dict[str, list[Concept]] = {"verbs": []}
        self._bounds: dict[str, list[float]] = {}
        for kind, entry in entries["nouns"].items():
            self._add("nouns", kind, entry)
        for number, entry in enumerate(entries["verbs"]):
            takes = tuple(entry["subject"].split()), tuple(entry.get("object", "").split())
            added = self._add("verbs", entry["frame"], entry, takes, f"{entry['frame']}{number}")
            self._classes["verbs"] += added
        for group in UPOS:
            if group not in ("nouns", "verbs", "names"):
                self._add(group, group, entries[group])
        for kind, count in entries["names"].items():
            self._add("names", kind, {"members": "", "tail": count})
        for kind, members in self._classes.items():
            members.sort(key=lambda concept: concept.rank)
            self._bounds[kind] = list(accumulate(1 / (r + 2.7) for r in range(len(members))))

    def __getitem__(self, key: str) -> Concept:
        """Return the concept with this key."""
        return self.concepts[key]

    def members(self, kind: str) -> list[Concept]:
        """Return the concepts of a class, such as ``"animal"`` or ``"verbs"``, frequent first."""
        return self._classes[kind]

    def draw(self, kind: str, rng: random.Random) -> Concept:
        """Draw a concept of a class; that of rank r with probability proportional to 1/(r+2.7)."""
        bounds = self._bounds[kind]
        return self._classes[kind][bisect(bounds, rng.random() * bounds[-1])]

    def _add(
        self, group: str, kind: str, entry: dict[str, Any], takes: Any = ((), ()), tail: str = ""
    ) -> list[Concept]:
        stem = tail or kind.removesuffix("s")
        labels = entry["members"].split() + [f"{stem}-{i}" for i in range(1, entry["tail"] + 1)]
        top = f"{labels[0]}.nouns" if group == "nouns" else None
        added = []
        for rank, label in enumerate(labels):
            key, polarity = f"{label}.{group}", self._polarity.get(label, 0)
            above = top if key != top else None
            added.append(Concept(key, label, group, kind, rank, polarity, above, takes))
        self.concepts |= {concept.key: concept for concept in added}
        if group != "verbs":
            self._classes.setdefault(kind, []).extend(added)
        return added


@cache
def load_ontology() -> Ontology:
    """Return the ontology, read once per process."""
    return Ontology()


@dataclass(frozen=True)
class Typology:
    """What makes one language differ from another: order, inflection, lexicon.

    The fields from ``subject`` to ``subordinator`` are shares from 0 to 1: how often a dependent of
    that kind stands before its head.

    Attributes:
        code: name of the language.
        branch: languages of one branch share part of their words.
        cognates: share of words that come from the source language by regular sound change.
        articles: ``"none"``, ``"definite"`` or ``"both"``.
        plural: nouns have a plural suffix.
        case: objects have an accusative suffix.
        tense: verbs have a past suffix; otherwise an auxiliary marks the past.
        agreement: verbs have a suffix for the third person singular.
        pro_drop: share of pronoun subjects left out.
        question_particle: questions have a particle.

    Example:
        >>> parameters("ja").object
        1
    """

    code: str
    branch: str = "isolate"
    cognates: float = 0.1
    subject: float = 1.0
    object: float = 0.0
    oblique: float = 0.0
    adverb: float = 0.5
    adjective: float = 1.0
    genitive: float = 0.0
    adposition: float = 1.0
    numeral: float = 1.0
    determiner: float = 1.0
    auxiliary: float = 1.0
    copula: float = 1.0
    adverbial_clause: float = 0.2
    subordinator: float = 1.0
    articles: str = "both"
    plural: bool = True
    case: bool = False
    tense: bool = True
    agreement: bool = True
    pro_drop: float = 0.0
    question_particle: bool = False


@cache
def _presets() -> dict[str, Typology]:
    entries = read_yaml(resources.files(__package__) / "presets.yaml")
    return {code: Typology(code, **entry) for code, entry in entries.items()}


LANGUAGES: tuple[str, ...] = tuple(_presets())


def parameters(code: str) -> Typology:
    """Return the typology of a language code.

    Raises:
        SettingsError: if there is no such language.
    """
    if code not in LANGUAGES:
        known = " ".join(LANGUAGES)
        raise SettingsError(f"there is no artificial language {code!r}: choose from {known}")
    return _presets()[code]


# ---- sounds and stems: a word is a string of syllables, the same alphabet in all languages

ONSETS = (*"pbtdkgmnszlrvfhj", "sh", "ch")
VOWELS, CODAS = "aeiou", "nsrltkm"
# Groups of concepts of which pairs share a word, and for which share of the first: so a word's
# part of speech, or its sense, follows from the words around it alone.
AMBIGUOUS = (
    ("verbs", "nouns", 0.5), ("adjectives", "nouns", 0.25), ("adjectives", "verbs", 0.15),
    ("manner_adverbs", "adjectives", 0.3), ("adpositions", "manner_adverbs", 0.3),
    ("determiners", "pronouns", 0.4), ("names", "nouns", 0.1), ("nouns", "nouns", 0.06),
)  # fmt: skip
BRANCH = 0.5  # share of the words that are not cognates that languages of a branch share
KEPT = 0.35  # share of the source's ambiguous words that are ambiguous in another language too
SUFFIXES = ("plural", "accusative", "past", "third")


@dataclass(frozen=True)
class Lexicon:
    """The words of one language: stem by concept key, suffix by name (``SUFFIXES``)."""

    stems: dict[str, str]
    suffixes: dict[str, str]


def _syllable(rng: random.Random, *, first: bool) -> str:
    onset = "" if first and rng.random() < 0.12 else rng.choice(ONSETS)
    return onset + rng.choice(VOWELS) + (rng.choice(CODAS) if rng.random() < 0.35 else "")


def _roots(seed: object, name: str) -> dict[str, str]:
    """Return an invented root for every concept, frequent ones shorter; no two are alike."""
    rng = seeded(seed, "roots", name)
    roots: dict[str, str] = {}  # key by root
    for concept in load_ontology().concepts.values():
        is_open = concept.group in ("nouns", "verbs", "adjectives", "names")
        size = (2 if concept.rank < 6 else 3) if is_open else 1
        root = ""
        while not root or root in roots:
            length = size + (rng.random() < 0.4)
            root = "".join(_syllable(rng, first=i == 0) for i in range(length))
        roots[root] = concept.key
    return {key: root for root, key in roots.items()}


def _pairs(seed: object, code: str, factor: float, used: set[str]) -> list[tuple[str, str]]:
    """Return pairs of concepts of similar frequency that share a word."""
    ontology, rng = load_ontology(), seeded(seed, "pairs", code)
    every = sorted(ontology.concepts.values(), key=lambda c: c.rank)
    by_group = {group: [c for c in every if c.group == group] for group in UPOS}
    pairs = []
    for left, right, share in AMBIGUOUS:
        partners = by_group[right]
        for position, concept in enumerate(by_group[left]):
            near = position * len(partners) // len(by_group[left])
            partner = partners[min(len(partners) - 1, rng.randint(near // 2, near + 12))]
            drawn = rng.random() < share * factor
            if drawn and not {concept.key, partner.key} & used and partner is not concept:
                used |= {concept.key, partner.key}
                pairs.append((concept.key, partner.key))
    return pairs


@cache
def build_lexicon(typology: Typology, seed: object) -> Lexicon:
    """Return the words of one language of the family with this seed."""
    code, rng = typology.code, seeded(seed, "lexicon", typology.code)
    source, branch, own = (_roots(seed, name) for name in (SOURCE, typology.branch, code))
    old, new = rng.sample(VOWELS, 2), rng.sample(ONSETS[:14], 2)
    change = str.maketrans({old[0]: old[1], new[0]: new[1]} if code != SOURCE else {})
    stems: dict[str, str] = {}
    taken: set[str] = set()
    # Names first: they sound alike in every language, other words make way.
    for key in sorted(own, key=lambda key: not key.endswith(".names")):
        draw = rng.random()
        if key.endswith(".names"):
            stem = source[key]
        elif draw < typology.cognates:
            stem = source[key].translate(change)
        elif rng.random() < BRANCH:
            stem = branch[key].translate(change)
        else:
            stem = own[key]
        while stem in taken:
            stem += _syllable(rng, first=False)
        stems[key] = stem
        taken.add(stem)
    used: set[str] = set()
    pairs = _pairs(seed, SOURCE, 1.0, set())
    if code != SOURCE:
        pairs = [pair for pair in pairs if rng.random() < KEPT]
        used = {key for pair in pairs for key in pair}
        pairs += _pairs(seed, code, 1 - KEPT, used)
    for kept, other in pairs:
        stems[other] = stems[kept]
    suffixes = rng.sample([v + c for v in VOWELS for c in CODAS], len(SUFFIXES))
    return Lexicon(stems, dict(zip(SUFFIXES, suffixes)))
