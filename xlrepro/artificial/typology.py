"""What makes one language differ from another: order, inflection, script, lexicon.

The presets are **artificial stand-ins**. The language with the code ``"de"`` is not German and has
not one German word: it is an invented language whose parameters imitate how often German puts the
object, the adjective, the auxiliary … before its head. The shares are those of the 52 word-order
features of Ahmad et al. (2019), rounded; Thai (``"th"``), which their table lacks, was set by hand.
"""

import functools
from dataclasses import dataclass, fields
from importlib import resources
from types import MappingProxyType
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.yaml_files import read_yaml


@dataclass(frozen=True)
class Typology:
    """The parameters of one language.

    The fields from ``subject`` to ``coordinator`` are shares from 0 to 1: how often a dependent of
    that kind stands before its head.

    Attributes:
        code: name of the language.
        script: a key of ``scripts.SCRIPTS``.
        branch: languages of one branch share part of their words.
        cognates: share of words that come from the source language by regular sound change.
        branch_words: share of the other words that come from the branch.
        polysemy: factor on the number of words with two senses.
        kept_polysemy: share of the source language's ambiguous words that are ambiguous here too.
        scrambling: share of sentences in which two neighbouring words change places.
        verb_second: main clauses have the finite verb second, subordinate clauses last.
        articles: ``"none"``, ``"definite"`` or ``"both"``.
        article_suffix: the definite article is a suffix of the noun.
        cases: 0 none, 1 accusative, 3 accusative, genitive and oblique suffixes on nouns.
        case_obliques: share of circumstances marked by the oblique case alone.
        plural: nouns have a plural suffix.
        tense: verbs have a past suffix (otherwise an auxiliary marks the past).
        perfect: share of pasts that have an auxiliary although verbs have a past suffix.
        agreement: of verbs: ``"none"``, ``"third"`` (third singular present) or ``"full"``.
        adjective_agreement: adjectives take the noun's number and case suffixes.
        pro_drop: share of pronoun subjects left out.
        copula_dropped: share of present-tense copulas left out.
        infinitive_marker: infinitives have a particle.
        relative_pronoun: relative clauses have a pronoun.
        question_particle: questions have a particle.
        syncretism: share of verb suffixes that sound like a noun suffix (as "-s" in "walks").
    """

    code: str
    script: str = "latin"
    branch: str = "isolate"
    cognates: float = 0.1
    branch_words: float = 0.5
    polysemy: float = 1.0
    kept_polysemy: float = 0.35
    scrambling: float = 0.0
    subject: float = 1.0
    subject_pronoun: float = 1.0
    predicate_subject: float = 1.0
    object: float = 0.0
    object_pronoun: float = 0.0
    recipient: float = 0.0
    oblique: float = 0.0
    adverb: float = 0.5
    degree: float = 1.0
    focus: float = 1.0
    adjective: float = 1.0
    genitive: float = 0.0
    possessive: float = 1.0
    adposition: float = 1.0
    relative: float = 0.0
    numeral: float = 1.0
    determiner: float = 1.0
    auxiliary: float = 1.0
    copula: float = 1.0
    adverbial_clause: float = 0.2
    complement: float = 0.0
    infinitive: float = 0.0
    subordinator: float = 1.0
    coordinator: float = 1.0
    verb_second: bool = False
    articles: str = "both"
    article_suffix: bool = False
    cases: int = 0
    case_obliques: float = 0.0
    plural: bool = True
    tense: bool = True
    perfect: float = 0.3
    agreement: str = "third"
    adjective_agreement: bool = False
    pro_drop: float = 0.0
    copula_dropped: float = 0.0
    infinitive_marker: bool = True
    relative_pronoun: bool = True
    question_particle: bool = False
    syncretism: float = 0.5

    def __post_init__(self) -> None:
        """Check the ranges."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is float and not 0 <= value <= 1 and field.name != "polysemy":
                raise SettingsError(
                    f"typology of {self.code!r}: {field.name} is {value}, must be from 0 to 1"
                )
        if self.articles not in ("none", "definite", "both"):
            raise SettingsError(
                f"typology of {self.code!r}: articles is {self.articles!r}, "
                "must be none, definite or both"
            )
        if self.agreement not in ("none", "third", "full"):
            raise SettingsError(
                f"typology of {self.code!r}: agreement is {self.agreement!r}, "
                "must be none, third or full"
            )
        if self.cases not in (0, 1, 3):
            raise SettingsError(
                f"typology of {self.code!r}: cases is {self.cases}, must be 0, 1 or 3"
            )

    @property
    def basic_order(self) -> str:
        """Return the commonest order of subject, object and verb in main clauses.

        Example:
            >>> Typology("x", object=0.9).basic_order
            'SOV'
        """
        if self.verb_second:
            return "V2"
        if self.subject < 0.5:
            return "OVS" if self.object > 0.5 else "VSO"
        return "SOV" if self.object > 0.5 else "SVO"


@functools.cache
def _presets() -> MappingProxyType[str, Typology]:
    file = resources.files(__package__) / "presets.yaml"
    presets: dict[str, dict[str, Any]] = read_yaml(file)
    return MappingProxyType({code: Typology(code, **entry) for code, entry in presets.items()})


LANGUAGES: tuple[str, ...] = tuple(_presets())


def parameters(code: str) -> Typology:
    """Return the preset typology of a language code.

    Raises:
        SettingsError: if there is no such preset.

    Example:
        >>> parameters("ja").basic_order
        'SOV'
    """
    try:
        return _presets()[code]
    except KeyError:
        raise SettingsError(
            f"there is no artificial language {code!r}: choose from {' '.join(LANGUAGES)}, or give "
            "Family your own Typology"
        ) from None
