"""Invented words: roots, regular sound change, and which concepts share a word.

A language's word for a concept is, with the shares its typology gives, a cognate (the source
language's root after regular sound changes), a word of its branch (the branch's root after the
same changes), or a word of its own. Two concepts that share a word make it ambiguous; which pairs
do differs from language to language, so a word's senses split in translation.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from xlrepro.artificial.ontology import Concept, Ontology, seeded
from xlrepro.artificial.scripts import CODAS, ONSETS, SCRIPTS, SYLLABIC, VOWELS, Word
from xlrepro.artificial.typology import Typology

SOURCE = "en"
Roots = dict[str, Word]
# Sounds that sound changes turn into one another.
_NEIGHBOURS = (("p", "b", "f", "v"), ("t", "d", "s", "z"), ("k", "g", "h"), ("sh", "ch", "j"))


# Suffixes of verbs that may sound like one of nouns, as in "walks".
SYNCRETISMS = (
    ("person2", "plural"),
    ("past", "acc"),
    ("infinitive", "gen"),
    ("person5", "definite"),
    ("person0", "obl"),
)


@dataclass(frozen=True)
class Lexicon:
    """The words of one language.

    Attributes:
        stems: written stem by concept key.
        shared: key of the concept whose word another concept shares, by that other concept's key.
        suffixes: written suffix by name, such as ``"plural"`` or ``"acc"``.
    """

    stems: dict[str, str]
    shared: dict[str, str]
    suffixes: dict[str, str]


def invent_word(rng: random.Random, syllables: int) -> Word:
    """Return a pronounceable word."""
    return tuple(_syllable(rng, first=i == 0) for i in range(syllables))


def _syllable(rng: random.Random, *, first: bool) -> tuple[str, str, str]:
    onset = "" if first and rng.random() < 0.12 else rng.choice(ONSETS)
    return onset, rng.choice(VOWELS), rng.choice(CODAS) if rng.random() < 0.35 else ""


def _length(concept: Concept, rng: random.Random) -> int:
    """Return the number of syllables: frequent words are shorter, as Zipf observed."""
    if concept.group not in ("nouns", "verbs", "adjectives", "names"):
        return 1 if rng.random() < 0.7 else 2
    draw = rng.random()
    if concept.rank < 6:
        return 1 if draw < 0.4 else 2
    return 2 if draw < 0.6 else 3


def invent_roots(ontology: Ontology, seed: object, name: str) -> Roots:
    """Return a root for every concept; no two are alike."""
    rng = seeded(seed, "roots", name)
    roots: Roots = {}
    taken: set[Word] = set()
    for concept in ontology.concepts.values():
        length = _length(concept, rng)
        root = invent_word(rng, length)
        for attempt in range(1000):
            if root not in taken:
                break
            root = invent_word(rng, length + attempt // 20)
        taken.add(root)
        roots[concept.key] = root
    return roots


def _sound_changes(rng: random.Random) -> dict[str, str]:
    changes = {}
    for sounds in _NEIGHBOURS:
        if rng.random() < 0.5:
            source, target = rng.sample(sounds, 2)
            changes[source] = target
    source, target = rng.sample(VOWELS, 2)
    changes[source] = target
    return changes


def _changed(word: Word, changes: dict[str, str]) -> Word:
    return tuple(
        (changes.get(onset, onset), changes.get(vowel, vowel), coda) for onset, vowel, coda in word
    )


def source_pairs(ontology: Ontology, seed: object) -> list[tuple[str, str]]:
    """Return the pairs of concepts that share a word in the source language."""
    fixed = list(ontology.homographs)
    rng = seeded(seed, "pairs", SOURCE)
    return [*fixed, *_random_pairs(ontology, rng, 1.0, {key for pair in fixed for key in pair})]


def _random_pairs(
    ontology: Ontology, rng: random.Random, factor: float, used: set[str]
) -> list[tuple[str, str]]:
    """Return pairs of concepts to share words: across parts of speech and within one."""
    pairs = []
    for left, right, share in (
        ("particles", "adpositions", 0.4),
        ("adpositions", "manner_adverbs", 0.3),
        ("subordinators", "time_adverbs", 0.4),
        ("auxiliaries", "verbs", 0.4),
        ("determiners", "pronouns", 0.4),
        ("verbs", "nouns", 0.5),
        ("adjectives", "nouns", 0.25),
        ("adjectives", "verbs", 0.15),
        ("manner_adverbs", "adjectives", 0.3),
        ("nouns", "nouns", 0.06),
        ("verbs", "verbs", 0.06),
        ("names", "names", 0.06),
        ("names", "nouns", 0.1),
    ):
        partners = ontology.group(right)
        for position, concept in enumerate(ontology.group(left)):
            if rng.random() > share * factor or concept.key in used:
                continue
            # Partners of similar frequency: both readings of a word are met.
            near = int(position * len(partners) / max(1, len(ontology.group(left))))
            partner = partners[min(len(partners) - 1, rng.randint(near // 2, near + 12))]
            if partner.key in used or partner.key == concept.key:
                continue
            used |= {concept.key, partner.key}
            pairs.append((concept.key, partner.key))
    return pairs


def _language_pairs(
    ontology: Ontology, typology: Typology, seed: object, source: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the source's pairs that this language keeps, and pairs of its own."""
    if typology.code == SOURCE:
        return source
    rng = seeded(seed, "pairs", typology.code)
    kept = [
        pair
        for pair in source
        # Two people called the same are called the same everywhere.
        if rng.random() < typology.kept_polysemy or all(_is_name(key) for key in pair)
    ]
    used = {key for pair in kept for key in pair}
    # As many ambiguous words as the source has, of which a share is kept from it.
    factor = typology.polysemy * (1 - typology.kept_polysemy)
    pairs = _random_pairs(ontology, rng, factor, used)
    return [*kept, *(pair for pair in pairs if not all(_is_name(key) for key in pair))]


def _is_name(key: str) -> bool:
    return key.endswith(".names")


def build_lexicon(
    ontology: Ontology,
    typology: Typology,
    seed: object,
    source_roots: Roots,
    branch_roots: Roots,
    pairs: list[tuple[str, str]],
) -> Lexicon:
    """Return the words of one language.

    Args:
        ontology: the concepts.
        typology: shares of cognates and of shared words; the script.
        seed: of the family.
        source_roots: roots of the source language.
        branch_roots: roots of the language's branch.
        pairs: concepts that share a word in the source language.
    """
    own_roots = invent_roots(ontology, seed, typology.code)
    rng = seeded(seed, "lexicon", typology.code)
    changes = _sound_changes(rng) if typology.code != SOURCE else {}

    def root_of(key: str) -> Word:
        if _is_name(key):
            return source_roots[key]
        if rng.random() < typology.cognates:
            return _changed(source_roots[key], changes)
        if rng.random() < typology.branch_words:
            return _changed(branch_roots[key], changes)
        return own_roots[key]

    stems = _distinct_stems(ontology, typology, root_of, rng)
    shared = {second: first for first, second in _language_pairs(ontology, typology, seed, pairs)}
    for second, first in shared.items():
        stems[second] = stems[first]
    return Lexicon(stems, shared, _invent_suffixes(typology, rng))


def _distinct_stems(
    ontology: Ontology, typology: Typology, root_of: Callable[[str], Word], rng: random.Random
) -> dict[str, str]:
    """Return a written stem for every concept; roots that would look alike are lengthened."""
    write = SCRIPTS[typology.script]
    stems: dict[str, str] = {}
    taken: set[str] = set()
    # Names first: they keep their sound in every language, other words make way.
    for key in sorted(ontology.concepts, key=lambda key: not _is_name(key)):
        root = root_of(key)
        while write(root) in taken:
            root = (*root, _syllable(rng, first=False))
        stems[key] = write(root)
        taken.add(stems[key])
    return stems


def _invent_suffixes(typology: Typology, rng: random.Random) -> dict[str, str]:
    """Return the written suffixes; ``syncretism`` lets verb suffixes sound like noun suffixes."""
    names = ["plural", "acc", "gen", "obl", "past", "definite", "infinitive"]
    names += [f"person{i}" for i in range(6)]
    write = SCRIPTS[typology.script]
    suffixes: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        written = ""
        while not written or written in taken:
            written = write((_suffix_syllable(typology, rng),))
        taken.add(written)
        suffixes[name] = written
    for verbal, nominal in SYNCRETISMS:
        if rng.random() < typology.syncretism:
            suffixes[verbal] = suffixes[nominal]
    return suffixes


def _suffix_syllable(typology: Typology, rng: random.Random) -> tuple[str, str, str]:
    onset = rng.choice(ONSETS) if typology.script in SYLLABIC or rng.random() < 0.2 else ""
    coda = rng.choice(CODAS) if not onset or rng.random() < 0.2 else ""
    return onset, rng.choice(VOWELS), coda
