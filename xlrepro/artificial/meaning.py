"""What a sentence says, before any language says it: predicates, arguments, attributes.

A meaning is a tree of frozen dataclasses over concepts. It holds no word and no order. Languages
turn it into words (``realise.py``); sentiment, predicate-argument graphs, word senses and
entailment are read off it (``semantics.py``).
"""

from dataclasses import dataclass
from typing import Literal

from xlrepro.artificial.ontology import Concept

Tense = Literal["present", "past", "future"]
Mood = Literal["statement", "question", "request"]


@dataclass(frozen=True, slots=True)
class Modifier:
    """An attribute or circumstance: an adjective or adverb, its degree, its coordinated partner."""

    concept: Concept
    degree: Concept | None = None
    partner: "Modifier | None" = None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """Who or what is spoken of: a common noun, a name, or a pronoun.

    Attributes:
        head: the noun or pronoun, or the first word of a name.
        name_rest: the further words of a name.
        entity: ``"PER"``, ``"LOC"``, ``"ORG"`` for a name, else ``None``.
        number: 1 singular, 2 plural.
        determiner: article, demonstrative or quantifier, if any.
        count: numeral, or a number written in digits.
        attributes: adjectives.
        owner: possessor or "of" phrase.
        possessive: possessive pronoun.
        oblique: a further phrase with its adposition, "the book about war".
        relative: relative clause; its ``gap`` tells the role that this phrase has in it.
        apposition: another description of the same thing.
        partner: coordinated phrase, with its coordinator.
        focus: adverb such as "only".
        slot: slot of a task-oriented utterance that this phrase fills.
    """

    head: Concept
    name_rest: tuple[Concept, ...] = ()
    entity: str | None = None
    number: int = 1
    determiner: Concept | None = None
    count: Concept | str | None = None
    attributes: tuple[Modifier, ...] = ()
    owner: "NounPhrase | None" = None
    possessive: Concept | None = None
    oblique: "Oblique | None" = None
    relative: "Clause | None" = None
    apposition: "NounPhrase | None" = None
    partner: "tuple[Concept, NounPhrase] | None" = None
    focus: Concept | None = None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Oblique:
    """A circumstance given by a noun phrase; the adposition names its role."""

    relation: Concept
    phrase: NounPhrase


@dataclass(frozen=True, slots=True)
class Clause:
    """A predicate with its arguments and circumstances.

    Attributes:
        predicate: a verb, or a ``Modifier`` or ``NounPhrase`` ascribed to the subject.
        subject, object, recipient: arguments; ``None`` where the frame has none or it is the gap.
        obliques, adverbs: circumstances.
        tense, modal, negated: of the predicate; ``modal`` is an auxiliary concept.
        complement: clause that is said or thought.
        infinitive: clause whose subject is this clause's subject ("try to read").
        adverbial: subordinator and clause ("because …").
        partner: coordinator and clause.
        gap: in a relative clause, the role of the noun it modifies: ``"subject"`` or ``"object"``.
        person: 0-5: 1sg, 2sg, 3sg, 1pl, 2pl, 3pl, of the subject.
    """

    predicate: "Concept | Modifier | NounPhrase"
    subject: NounPhrase | None = None
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    obliques: tuple[Oblique, ...] = ()
    adverbs: tuple[Modifier, ...] = ()
    tense: Tense = "present"
    modal: Concept | None = None
    negated: bool = False
    complement: "Clause | None" = None
    infinitive: "Clause | None" = None
    adverbial: "tuple[Concept, Clause] | None" = None
    partner: "tuple[Concept, Clause] | None" = None
    gap: str | None = None
    person: int = 2


@dataclass(frozen=True, slots=True)
class Meaning:
    """One sentence's meaning.

    Attributes:
        clause: the main predication.
        mood: statement, question or request.
        intent: ``"inform"``, ``"ask"``, or what a request is for, such as ``"set_alarm"``.
        domain: ``"general"``, or a request's or a review's domain.
        discourse: interjection, such as "please".
    """

    clause: Clause
    mood: Mood = "statement"
    intent: str = "inform"
    domain: str = "general"
    discourse: Concept | None = None
