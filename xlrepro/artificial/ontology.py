"""The concepts that meanings are made of: classes, frequencies, polarity, hypernyms, antonyms."""

import functools
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from itertools import accumulate
from typing import Any

from xlrepro.yaml_files import read_yaml

UPOS_OF_GROUP = {
    "nouns": "NOUN",
    "verbs": "VERB",
    "adjectives": "ADJ",
    "manner_adverbs": "ADV",
    "time_adverbs": "ADV",
    "degree_adverbs": "ADV",
    "focus_adverbs": "ADV",
    "adpositions": "ADP",
    "subordinators": "SCONJ",
    "coordinators": "CCONJ",
    "determiners": "DET",
    "pronouns": "PRON",
    "possessives": "PRON",
    "auxiliaries": "AUX",
    "particles": "PART",
    "interjections": "INTJ",
    "numerals": "NUM",
    "names": "PROPN",
}


@dataclass(frozen=True, slots=True)
class Concept:
    """One sense: what a word stands for, the same in all languages.

    Attributes:
        key: unique name, ``label.group``, such as ``"dog.nouns"``.
        label: what a gloss shows.
        group: the grammatical group, a key of ``UPOS_OF_GROUP``.
        kind: semantic class: of a noun or a name (``"animal"``, ``"first"``), the frame of a verb.
        rank: 0 for the most frequent concept of its class.
        polarity: 1 for positive, -1 for negative, else 0.
        hypernym: key of the concept that this one is a kind of.
        antonym: key of the opposite concept.
    """

    key: str
    label: str
    group: str
    kind: str
    rank: int
    polarity: int = 0
    hypernym: str | None = None
    antonym: str | None = None

    @property
    def upos(self) -> str:
        """Return the universal part of speech of words for this concept."""
        return UPOS_OF_GROUP[self.group]


@dataclass(frozen=True, slots=True)
class Frame:
    """Which kinds of nouns a verb takes as subject and object."""

    kind: str
    subject: tuple[str, ...]
    object: tuple[str, ...] = ()


class Zipfian:
    """Draws items with probability proportional to 1 / (rank + 2.7), as Zipf and Mandelbrot say."""

    def __init__(self, items: Sequence[Any], exponent: float = 1.0) -> None:
        self.items = tuple(items)
        self._bounds = list(accumulate(1 / (r + 2.7) ** exponent for r in range(len(items))))

    def draw(self, rng: random.Random) -> Any:
        """Return one item."""
        return self.items[bisect(self._bounds, rng.random() * self._bounds[-1])]


class Ontology:
    """All concepts, with a Zipfian sampler for every class.

    Attributes:
        concepts: by key, in a fixed order.
        samplers: by class: a noun or name kind (``"animal"``), or a group (``"adjectives"``).
        frames: by verb key.
        homographs: pairs of keys that may share a word across parts of speech.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._polarity = dict.fromkeys(settings["positive"].split(), 1)
        self._polarity |= dict.fromkeys(settings["negative"].split(), -1)
        self._antonyms: dict[str, str] = {}
        for pair in settings["antonyms"].split():
            left, right = pair.split("/")
            self._antonyms[left], self._antonyms[right] = right, left
        self.concepts: dict[str, Concept] = {}
        self._groups: dict[str, list[Concept]] = {}
        self.samplers: dict[str, Zipfian] = {}
        self.frames: dict[str, Frame] = {}
        for kind, entry in settings["nouns"].items():
            self._add_class("nouns", kind, entry)
        self._add_verbs(settings["verbs"])
        for group in UPOS_OF_GROUP:
            if group not in ("nouns", "verbs", "names"):
                self._add_class(group, group, settings[group])
        for kind, count in settings["names"].items():
            self._add_class("names", kind, {"members": "", "tail": count})
        self.homographs = [(a, b) for a, b in settings["homographs"]]

    def __getitem__(self, key: str) -> Concept:
        """Return the concept with this key."""
        return self.concepts[key]

    def _add_class(self, group: str, kind: str, entry: dict[str, Any]) -> list[Concept]:
        named = entry["members"].split()
        labels = named + [f"{kind.removesuffix('s')}-{i}" for i in range(1, entry["tail"] + 1)]
        hypernym = f"{labels[0]}.nouns" if group == "nouns" else None
        members = []
        for rank, label in enumerate(labels):
            antonym = self._antonyms.get(label)
            key = f"{label}.{group}"
            members.append(
                Concept(
                    key,
                    label,
                    group,
                    kind,
                    rank,
                    polarity=self._polarity.get(label, 0),
                    hypernym=hypernym if key != hypernym else None,
                    antonym=f"{antonym}.{group}" if antonym in labels else None,
                )
            )
        self.concepts |= {concept.key: concept for concept in members}
        self.samplers[kind] = Zipfian(members)
        return members

    def _add_verbs(self, entries: list[dict[str, Any]]) -> None:
        verbs: list[Concept] = []
        for number, entry in enumerate(entries):
            kind = f"{entry['frame']}{number}"
            frame = Frame(
                entry["frame"],
                tuple(entry["subject"].split()),
                tuple(entry.get("object", "").split()),
            )
            members = self._add_class("verbs", kind, entry)
            verbs += members
            self.frames |= {concept.key: frame for concept in members}
        verbs.sort(key=lambda concept: concept.rank)
        self.samplers["verbs"] = Zipfian(verbs, exponent=0.9)
        for frame_kind in dict.fromkeys(frame.kind for frame in self.frames.values()):
            chosen = [verb for verb in verbs if self.frames[verb.key].kind == frame_kind]
            self.samplers[frame_kind] = Zipfian(chosen)

    def group(self, group: str) -> list[Concept]:
        """Return the concepts of a grammatical group, most frequent first."""
        if group not in self._groups:
            members = [concept for concept in self.concepts.values() if concept.group == group]
            self._groups[group] = sorted(members, key=lambda concept: concept.rank)
        return self._groups[group]


@functools.cache
def load_ontology() -> Ontology:
    """Return the ontology of ``ontology.yaml``, read once per process."""
    return Ontology(read_yaml(resources.files(__package__) / "ontology.yaml"))


def seeded(*parts: object) -> random.Random:
    """Return a generator that depends on the parts alone, not on the process or its hash seed.

    Example:
        >>> seeded(0, "en").random() == seeded(0, "en").random()
        True
    """
    digest = sha256("|".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))
