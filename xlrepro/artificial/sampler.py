"""Draws meanings at random: what people, places and things are said to be and do."""

import random
from typing import Any

from xlrepro.artificial.meaning import Clause, Meaning, Modifier, NounPhrase, Oblique
from xlrepro.artificial.ontology import Concept, Ontology

ENTITY_OF_KIND = {"person": "PER", "place": "LOC", "group": "ORG"}
# he, she, it, they … with the person (0-5) that verbs agree with.
PERSON_OF_PRONOUN = {"I": 0, "you": 1, "we": 3, "they": 5}
PERSON_PRONOUNS = ("I", "you", "he", "we", "they", "she")
# Which circumstances a clause has, with the kinds of noun that go with each.
CIRCUMSTANCES = (
    ("in", "place"),
    ("in", "time"),
    ("with", "person"),
    ("for", "person"),
    ("on", "time"),
    ("at", "place"),
    ("from", "place"),
    ("about", "idea"),
    ("by", "object"),
    ("before", "time"),
    ("after", "idea"),
    ("between", "object"),
    ("without", "object"),
)


class MeaningSampler:
    """A stream of meanings from one random generator.

    Args:
        ontology: the concepts.
        rng: the only source of randomness.
    """

    def __init__(self, ontology: Ontology, rng: random.Random) -> None:
        self.ontology = ontology
        self.rng = rng
        self._samplers = ontology.samplers
        self._concepts = ontology.concepts
        self._relations = [
            (self._concepts[f"{name}.adpositions"], kind) for name, kind in CIRCUMSTANCES
        ]

    def pick(self, kind: str) -> Concept:
        """Return a concept of a class, frequent ones more often."""
        concept: Concept = self._samplers[kind].draw(self.rng)
        return concept

    def meaning(self) -> Meaning:
        """Return the meaning of one statement or question."""
        chance = self.rng.random
        clause = self.clause(depth=0)
        mood = "question" if chance() < 0.08 else "statement"
        discourse = self.pick("interjections") if chance() < 0.02 else None
        return Meaning(
            clause,
            mood="question" if mood == "question" else "statement",
            intent="ask" if mood == "question" else "inform",
            discourse=discourse,
        )

    def name(self, kind: str) -> NounPhrase:
        """Return a named person, place or organisation."""
        chance = self.rng.random
        if kind == "person":
            rest = (self.pick("last"),) if chance() < 0.45 else ()
            return NounPhrase(self.pick("first"), rest, entity="PER")
        if kind == "place":
            rest = (self.pick("location"),) if chance() < 0.12 else ()
            return NounPhrase(self.pick("location"), rest, entity="LOC")
        source = "last" if chance() < 0.2 else "organisation"
        rest = (self.pick("organisation"),) if source == "last" or chance() < 0.25 else ()
        return NounPhrase(self.pick(source), rest, entity="ORG")

    def noun_phrase(self, kind: str, depth: int = 0, *, pronoun: bool = True) -> NounPhrase:
        """Return a phrase for something of a kind: a pronoun, a name or a description."""
        draw = self.rng.random()
        if pronoun and draw < 0.2:
            return self._pronoun(kind)
        if kind in ENTITY_OF_KIND and draw < 0.45:
            return self._decorated_name(kind, depth)
        return self._description(kind, depth)

    def _pronoun(self, kind: str) -> NounPhrase:
        if kind != "person":
            label = self.rng.choice(("it", "it", "they", "this", "something"))
        else:
            label = self.rng.choice(PERSON_PRONOUNS)
        return NounPhrase(self._concepts[f"{label}.pronouns"], number=2 if label == "they" else 1)

    def _decorated_name(self, kind: str, depth: int) -> NounPhrase:
        draw = self.rng.random()
        name = self.name(kind)
        changes: dict[str, Any] = {}
        if draw < 0.06:
            changes["apposition"] = self._description(kind, depth + 2)
        elif draw < 0.14 and depth < 2:
            changes["partner"] = (self._coordinator(), self.name(kind))
        return with_changes(name, changes) if changes else name

    def _coordinator(self) -> Concept:
        return self._concepts["and.coordinators" if self.rng.random() < 0.8 else "or.coordinators"]

    def _description(self, kind: str, depth: int) -> NounPhrase:
        chance = self.rng.random
        plural = chance() < 0.3
        changes: dict[str, Any] = self._determination(plural)
        if chance() < 0.32:
            changes["attributes"] = (self.attribute(),)
        if depth < 2:
            changes |= self._expansion(kind, depth)
        return NounPhrase(self.pick(kind), number=2 if plural else 1, **changes)

    def _determination(self, plural: bool) -> dict[str, Any]:
        draw = self.rng.random()
        if draw < 0.45:
            return {"determiner": self._concepts["the.determiners"]}
        if draw < 0.65:
            return {} if plural else {"determiner": self._concepts["a.determiners"]}
        if draw < 0.75:
            return {"determiner": self.pick("determiners")}
        if draw < 0.84:
            return {"possessive": self.pick("possessives")}
        if plural and draw < 0.95:
            return {"count": self.count()}
        return {}

    def count(self) -> Concept | str:
        """Return a numeral, or a number in digits."""
        if self.rng.random() < 0.4:
            return str(self.rng.randint(2, 60))
        return self.pick("numerals")

    def _expansion(self, kind: str, depth: int) -> dict[str, Any]:
        draw = self.rng.random()
        if draw < 0.11:
            owner = self.rng.choice(("person", "group", "place"))
            return {"owner": self.noun_phrase(owner, depth + 1, pronoun=False)}
        if draw < 0.18:
            return {"oblique": self.circumstance(depth + 1)}
        if draw < 0.24:
            return {"relative": self.relative(kind, depth + 2)}
        if draw < 0.28:
            phrase = self._description(kind, depth + 2)
            return {"partner": (self._coordinator(), phrase)}
        if draw < 0.30:
            return {"apposition": self._description(kind, depth + 2)}
        if draw < 0.33:
            return {"focus": self.pick("focus_adverbs")}
        return {}

    def attribute(self) -> Modifier:
        """Return an adjective, sometimes with a degree or coordinated with another."""
        draw = self.rng.random()
        degree = self.pick("degree_adverbs") if draw < 0.15 else None
        partner = Modifier(self.pick("adjectives")) if draw > 0.94 else None
        return Modifier(self.pick("adjectives"), degree, partner)

    def circumstance(self, depth: int) -> Oblique:
        """Return an adposition and a phrase of a kind that goes with it."""
        relation, kind = self._relations[int(self.rng.random() ** 1.6 * len(self._relations))]
        return Oblique(relation, self.noun_phrase(kind, depth + 1, pronoun=kind == "person"))

    def relative(self, kind: str, depth: int) -> Clause:
        """Return a relative clause about something of a kind."""
        verb = self.pick("transitive")
        frame = self.ontology.frames[verb.key]
        tense = self._tense()
        if kind in frame.object and self.rng.random() < 0.4:
            subject = self.noun_phrase("person", depth)
            person = person_of(subject)
            return Clause(verb, subject, tense=tense, gap="object", person=person)
        thing = self.noun_phrase(self.rng.choice(frame.object), depth)
        return Clause(verb, object=thing, tense=tense, gap="subject")

    def _tense(self) -> Any:
        draw = self.rng.random()
        return "present" if draw < 0.45 else "past" if draw < 0.85 else "future"

    def clause(self, depth: int) -> Clause:
        """Return a clause; ``depth`` 0 may hold further clauses."""
        chance = self.rng.random
        tense = self._tense()
        negated = chance() < 0.09
        changes = self._ascription(depth) if chance() < 0.2 else self._event(depth)
        draw = chance()
        if depth == 0 and draw < 0.07:
            changes["adverbial"] = (self._subordinator(), self.clause(depth + 1))
        elif depth == 0 and draw < 0.16:
            changes["partner"] = (self.pick("coordinators"), self.clause(depth + 1))
        modal = None
        if tense == "present" and chance() < 0.15:
            label = self.rng.choice(("can", "must", "may"))
            modal = self._concepts[f"{label}.auxiliaries"]
        person = person_of(changes["subject"])
        return Clause(tense=tense, negated=negated, modal=modal, person=person, **changes)

    def _subordinator(self) -> Concept:
        while True:
            concept = self.pick("subordinators")
            if concept.label != "that":
                return concept

    def _ascription(self, depth: int) -> dict[str, Any]:
        kind = self.rng.choice(("person", "place", "group", "idea", "object", "animal", "food"))
        subject = self.noun_phrase(kind, depth + 1)
        draw = self.rng.random()
        if draw < 0.65:
            changes: dict[str, Any] = {"predicate": self.attribute(), "subject": subject}
            if draw < 0.1:
                relation = self._concepts["for.adpositions"]
                changes["obliques"] = (Oblique(relation, self.noun_phrase("person", depth + 1)),)
        else:
            number = 2 if person_of(subject) > 2 else 1
            phrase = with_changes(self._description(kind, depth + 1), {"number": number})
            changes = {"predicate": phrase, "subject": subject}
        if self.rng.random() < 0.15:
            changes["adverbs"] = (Modifier(self.pick("time_adverbs")),)
        return changes

    def _event(self, depth: int) -> dict[str, Any]:
        verb = self.pick("verbs")
        frame = self.ontology.frames[verb.key]
        choice = self.rng.choice
        changes: dict[str, Any] = {
            "predicate": verb,
            "subject": self.noun_phrase(choice(frame.subject), depth),
        }
        if frame.object:
            changes["object"] = self.noun_phrase(choice(frame.object), depth)
        if frame.kind == "ditransitive":
            changes["recipient"] = self.noun_phrase("person", depth + 1)
        elif frame.kind == "complement":
            changes["complement"] = self.clause(depth + 1)
        elif frame.kind == "control":
            changes["infinitive"] = self._infinitive(depth + 1)
        elif frame.kind == "motion":
            label = choice(("to", "to", "from"))
            place = self.noun_phrase("place", depth + 1, pronoun=False)
            changes["obliques"] = (Oblique(self._concepts[f"{label}.adpositions"], place),)
        return changes | self._circumstances(depth, changes.get("obliques", ()))

    def _infinitive(self, depth: int) -> Clause:
        verb = self.pick("transitive")
        kind = self.rng.choice(self.ontology.frames[verb.key].object)
        return Clause(verb, object=self.noun_phrase(kind, depth), gap="subject")

    def _circumstances(self, depth: int, obliques: tuple[Oblique, ...]) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if self.rng.random() < (0.35 if depth == 0 else 0.2):
            changes["obliques"] = (*obliques, self.circumstance(depth))
        draw = self.rng.random()
        if draw < 0.14:
            degree = self.pick("degree_adverbs") if draw < 0.02 else None
            changes["adverbs"] = (Modifier(self.pick("manner_adverbs"), degree),)
        elif draw < 0.24:
            changes["adverbs"] = (Modifier(self.pick("time_adverbs")),)
        return changes


def with_changes(phrase: NounPhrase, changes: dict[str, Any]) -> NounPhrase:
    """Return a copy of a phrase with some fields changed (``dataclasses.replace``, but faster)."""
    fields = {name: getattr(phrase, name) for name in NounPhrase.__slots__}
    return NounPhrase(**(fields | changes))


def person_of(subject: NounPhrase) -> int:
    """Return the person and number (0-5: 1sg … 3pl) that a verb agrees with."""
    label = subject.head.label
    if subject.head.group == "pronouns" and label in PERSON_OF_PRONOUN:
        return PERSON_OF_PRONOUN[label]
    return 5 if subject.number == 2 or subject.partner else 2
