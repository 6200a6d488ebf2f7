"""Interlinear glosses: each word with what it means and what its suffixes mark.

``gloss_examples`` is what the book's page on artificial languages renders.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xlrepro.artificial.family import Family, Language
from xlrepro.artificial.lexicon import SOURCE, Lexicon
from xlrepro.artificial.meaning import Meaning
from xlrepro.artificial.ontology import Concept, load_ontology, seeded
from xlrepro.artificial.tree import Realisation


@dataclass(frozen=True, slots=True)
class GlossedSentence:
    """A sentence of one language, word by word.

    Attributes:
        code: of the language.
        order: its basic order, such as ``"SOV"``.
        tokens: the words, n.
        glosses: what each says, n: the concept and the marked categories, ``"dog-PL-ACC"``.
        upos: parts of speech, n.
    """

    code: str
    order: str
    tokens: tuple[str, ...]
    glosses: tuple[str, ...]
    upos: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GlossedMeaning:
    """One meaning in several languages.

    Attributes:
        translation: in regularised English: labels of concepts, regular endings.
        sentences: one per language, in the order asked for.
    """

    translation: str
    sentences: tuple[GlossedSentence, ...]


def gloss(
    language: Language, realisation: Realisation, names: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return a gloss per word: the concept's label and the categories its form marks.

    Names are glossed by ``names`` (concept key to text), else as ``NAME``; numbers in digits and
    punctuation as themselves.

    Example:
        >>> family = Family(0)
        >>> said = family.realisations("ja", 1)[0]
        >>> len(gloss(family.language("ja"), said)) == len(said.words)
        True
    """
    concepts = load_ontology().concepts
    row = []
    for word in realisation.words:
        concept = concepts.get(word.sense or "")
        if concept is None:
            row.append(word.form)
            continue
        label = concept.label
        if concept.group == "names":
            label = (names or {}).get(concept.key, "NAME")
        row.append("-".join((label, *language.morphology.marks(concept.key, word.form))))
    return tuple(row)


def gloss_examples(
    codes: Sequence[str] = ("en", "de", "ja", "ar"), seed: int = 0, n: int = 4
) -> list[GlossedMeaning]:
    """Return n meanings, each in several languages, glossed, with a translation.

    Only meanings of 5 to 11 words whose concepts all have a telling label are taken.

    Raises:
        SettingsError: if a code is unknown.
    """
    family = Family(seed)
    english = _regularised_english(family.language(SOURCE))
    examples: list[GlossedMeaning] = []
    for number, meaning in enumerate(family.meanings("examples", seed, "statements")):
        if len(examples) == n:
            break
        said = _say(english, meaning, seed, number)
        if 5 <= len(said.words) <= 11 and _is_telling(said):
            translation = _translation(said)
            names = english.lexicon.stems
            sentences = [_glossed(family.language(c), meaning, seed, number, names) for c in codes]
            examples.append(GlossedMeaning(translation, tuple(sentences)))
    return examples


def _say(language: Language, meaning: Meaning, seed: int, number: int) -> Realisation:
    rng = seeded(seed, "examples", language.code, number)
    return next(language.realise([meaning], rng))


def _translation(said: Realisation) -> str:
    """Join the words as English is written; "makeed" becomes "maked"."""
    text = ""
    for word in said.words:
        label = (word.sense or "").split(".")[0]
        form = f"{label}d" if word.form == f"{label}ed" and label.endswith("e") else word.form
        text += form if word.upos == "PUNCT" else f" {form}"
    text = text.strip()
    return text[0].upper() + text[1:]


def _glossed(
    language: Language, meaning: Meaning, seed: int, number: int, names: Mapping[str, str]
) -> GlossedSentence:
    said = _say(language, meaning, seed, number)
    return GlossedSentence(
        language.code,
        language.typology.basic_order,
        tokens=tuple(word.form for word in said.words),
        glosses=gloss(language, said, names),
        upos=tuple(word.upos for word in said.words),
    )


def _is_telling(said: Realisation) -> bool:
    """Tell whether all words but names have a label of their own, and some are nouns and verbs."""
    parts = {word.upos for word in said.words}
    labels = [word.sense or "" for word in said.words if word.upos != "PROPN"]
    return {"NOUN", "VERB"} <= parts and not any("-" in label for label in labels)


def _regularised_english(source: Language) -> Language:
    """Return a language with English order whose words are the labels of the concepts."""
    typology = replace(source.typology, perfect=0.0, adverb=0.0, adverbial_clause=0.0)
    stems = {
        key: _name(source, concept) if concept.group == "names" else concept.label
        for key, concept in load_ontology().concepts.items()
    }
    suffixes = {**source.lexicon.suffixes, "plural": "s", "person2": "s", "past": "ed"}
    return Language(typology, Lexicon(stems, {}, suffixes))


def _name(source: Language, concept: Concept) -> str:
    return source.lexicon.stems[concept.key].capitalize()
