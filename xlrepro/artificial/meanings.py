"""What sentences say, before any language says it, and what can be read off that.

A meaning is a tree of frozen dataclasses over concepts; it holds no word and no order. What is read
off it is true by construction: its sentiment, its graph, what follows from it or contradicts it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from xlrepro.artificial.words import Concept, Ontology, load_ontology

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Who or what is spoken of: a common noun, a name or a pronoun.

    Attributes:
        head: the noun or pronoun, or the first word of a name.
        rest: the further words of a name.
        entity: ``"PER"``, ``"LOC"``, ``"ORG"`` for a name, else ``None``.
        plural: its number.
        determiner: article, demonstrative or quantifier.
        count: numeral.
        adjective: attribute.
        owner: possessor, "the door of the house".
        relation: adposition of a circumstance, "in the garden".
        slot: slot of a task-oriented utterance that this phrase (or its adjective) fills.
    """

    head: Concept
    rest: tuple[Concept, ...] = ()
    entity: str | None = None
    plural: bool = False
    determiner: Concept | None = None
    count: Concept | None = None
    adjective: Concept | None = None
    owner: "Phrase | None" = None
    relation: Concept | None = None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """A predicate (a verb, or an adjective said of the subject) with what belongs to it.

    Attributes:
        predicate: a verb or an adjective.
        subject, object: arguments.
        obliques: circumstances, phrases with a relation.
        adverb: of time or manner; ``adverb_slot``: the slot that it fills.
        past, negated: of the predicate.
        modal: an auxiliary.
        link: a coordinator or subordinator and its clause.
    """

    predicate: Concept
    subject: Phrase | None = None
    object: Phrase | None = None
    obliques: tuple[Phrase, ...] = ()
    adverb: Concept | None = None
    adverb_slot: str | None = None
    past: bool = False
    negated: bool = False
    modal: Concept | None = None
    link: "tuple[Concept, Clause] | None" = None

    def phrases(self) -> list[Phrase]:
        """Return its phrases, owners included, not those of a linked clause."""
        found = [p for p in (self.subject, self.object, *self.obliques) if p]
        return found + [p.owner for p in found if p.owner]


@dataclass(frozen=True, slots=True)
class Meaning:
    """One sentence's meaning.

    Attributes:
        clause: what is said.
        mood: ``"statement"``, ``"question"`` or ``"request"``.
        intent: ``"inform"``, ``"ask"``, or what a request is for, such as ``"set_alarm"``.
        polite: an interjection, "please".
    """

    clause: Clause
    mood: str = "statement"
    intent: str = "inform"
    polite: Concept | None = None


ENTITIES = {"person": "PER", "place": "LOC", "group": "ORG"}


class Sampler:
    """Draws meanings at random.

    Args:
        rng: the only source of randomness.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.chance = rng, rng.random
        self.ontology = load_ontology()

    def draw(self, kind: str) -> Concept:
        """Return a concept of a class, frequent ones more often."""
        return self.ontology.draw(kind, self.rng)

    def one(self, labels: str, group: str) -> Concept:
        """Return one of some labels' concepts."""
        return self.ontology[f"{self.rng.choice(labels.split())}.{group}"]

    def statement(self) -> Meaning:
        """Return the meaning of one statement or, one time in twelve, of a question."""
        told = ("question", "ask") if self.chance() < 0.08 else ("statement", "inform")
        return Meaning(self.clause(), *told)

    def clause(self, depth: int = 0) -> Clause:
        """Return a clause; at depth 0 it may have another one linked to it."""
        past, negated = self.chance() < 0.4, self.chance() < 0.09
        has_modal = not past and self.chance() < 0.15
        modal = self.one("can must may", "auxiliaries") if has_modal else None
        if self.chance() < 0.25:
            kinds = ("person", "place", "group", "idea", "object", "animal", "food")
            clause = Clause(self.draw("adjectives"), self.phrase(self.rng.choice(kinds)))
        else:
            clause = self._event(depth)
        draw = self.chance()
        if depth == 0 and clause.link is None and draw < 0.16:
            under = draw < 0.07
            word = (
                self.one("when because if", "subordinators") if under else self.draw("coordinators")
            )
            clause = replace(clause, link=(word, self.clause(1)))
        return replace(clause, past=past, negated=negated, modal=modal)

    def _event(self, depth: int) -> Clause:
        verb = self.draw("verbs")
        subjects, objects = verb.takes
        obliques: tuple[Phrase, ...] = ()
        link = adverb = None
        subject = self.phrase(self.rng.choice(subjects))
        thing = self.phrase(self.rng.choice(objects)) if objects else None
        if verb.kind == "motion":
            relation = self.one("to from", "adpositions")
            obliques = (replace(self.phrase("place", pronoun=False), relation=relation),)
        if verb.kind == "complement" and depth == 0:
            link = self.ontology["that.subordinators"], self.clause(1)
        if self.chance() < 0.3:
            obliques = (*obliques, self.circumstance())
        if self.chance() < 0.24:
            adverb = self.draw("manner_adverbs" if self.chance() < 0.6 else "time_adverbs")
        return Clause(verb, subject, thing, obliques, adverb, link=link)

    def circumstance(self) -> Phrase:
        """Return a phrase with its adposition, the first relations more often."""
        known = self.ontology.circumstances
        label, kind = known[int(self.chance() ** 1.6 * len(known))]
        phrase = self.phrase(kind, pronoun=kind == "person")
        return replace(phrase, relation=self.ontology[f"{label}.adpositions"])

    def name(self, kind: str) -> Phrase:
        """Return a named person, place or organisation."""
        if kind == "person":
            last = (self.draw("last"),) if self.chance() < 0.45 else ()
            return Phrase(self.draw("first"), last, "PER")
        if kind == "place":
            rest = (self.draw("location"),) if self.chance() < 0.12 else ()
            return Phrase(self.draw("location"), rest, "LOC")
        # Some organisations are named for a person.
        first = self.draw("last" if self.chance() < 0.2 else "organisation")
        has_rest = first.kind == "last" or self.chance() < 0.25
        return Phrase(first, (self.draw("organisation"),) if has_rest else (), "ORG")

    def phrase(self, kind: str, *, pronoun: bool = True, owner: bool = True) -> Phrase:
        """Return a phrase for something of a kind: a pronoun, a name or a description."""
        draw = self.chance()
        if pronoun and draw < 0.2:
            labels = "I you he we they she" if kind == "person" else "it it they something"
            head = self.one(labels, "pronouns")
            return Phrase(head, plural=head.label in ("we", "they"))
        if kind in ENTITIES and draw < 0.45:
            return self.name(kind)
        plural, determiner, count = self.chance() < 0.3, None, None
        draw = self.chance()
        if draw < 0.45:
            determiner = self.ontology["the.determiners"]
        elif draw < 0.65:
            determiner = None if plural else self.ontology["a.determiners"]
        elif draw < 0.75:
            determiner = self.draw("determiners")
        elif plural and draw < 0.95:
            count = self.draw("numerals")
        whose = None
        if owner and self.chance() < 0.12:
            owning = self.rng.choice(("person", "group", "place"))
            whose = self.phrase(owning, pronoun=False, owner=False)
        adjective = self.draw("adjectives") if self.chance() < 0.35 else None
        described = Phrase(self.draw(kind), plural=plural, determiner=determiner, count=count)
        return replace(described, adjective=adjective, owner=whose)

    def request(self, domain: str | None = None) -> Meaning:
        """Return what an assistant is asked to do, of a domain if given."""
        known = [r for r in self.ontology.requests if domain in (None, r[1])]
        intent, domain, verbs, thing, slots = self.rng.choice(known)
        determiner = self.one("the a", "determiners") if self.chance() < 0.7 else None
        asked = Phrase(self.ontology[f"{thing}.nouns"], determiner=determiner)
        clause = Clause(self.one(verbs, "verbs"), object=asked)
        for slot in slots.split():
            if self.chance() < 0.75:
                clause = self._with_slot(clause, slot)
        polite = self.ontology["please.interjections"] if self.chance() < 0.25 else None
        draw = self.chance()
        if draw < 0.55:
            return Meaning(clause, "request", intent, polite)
        who, modal = ("I", "must") if draw < 0.7 else ("you", "can")
        subject, helper = self.ontology[f"{who}.pronouns"], self.ontology[f"{modal}.auxiliaries"]
        clause = replace(clause, subject=Phrase(subject), modal=helper)
        return Meaning(clause, "statement" if who == "I" else "question", intent, polite)

    def _with_slot(self, clause: Clause, slot: str) -> Clause:
        assert clause.object is not None
        if slot == "attribute":
            thing = replace(clause.object, adjective=self.draw("adjectives"), slot=slot)
            return replace(clause, object=thing)
        if slot == "title":
            thing = replace(clause.object, owner=replace(self.name("group"), slot=slot))
            return replace(clause, object=thing)
        if slot == "datetime" and self.chance() < 0.4:
            return replace(clause, adverb=self.draw("time_adverbs"), adverb_slot=slot)
        if slot == "contact":
            labels, phrase = "with to for", self.name("person")
        elif slot == "location":
            labels, phrase = "in at", self.name("place")
        else:
            labels = "at on for"
            phrase = Phrase(self.draw("time"), plural=True, count=self.draw("numerals"))
        phrase = replace(phrase, relation=self.one(labels, "adpositions"), slot=slot)
        return replace(clause, obliques=(*clause.obliques, phrase))


# ---- read off a meaning


def sentiment(meaning: Meaning) -> int:
    """Return 1, 0 or -1: the sign of the sum of polarities; a negated predicate's is turned."""
    total = _polarity(meaning.clause)
    return (total > 0) - (total < 0)


def _polarity(clause: Clause) -> int:
    said = clause.predicate.polarity + (clause.adverb.polarity if clause.adverb else 0)
    total = -said if clause.negated else said
    for phrase in clause.phrases():
        total += phrase.head.polarity + (phrase.adjective.polarity if phrase.adjective else 0)
    return total + (_polarity(clause.link[1]) if clause.link else 0)


def graph(meaning: Meaning) -> list[Triple]:
    """Return the meaning as a rooted graph of triples (source, role, target).

    Every node ``x<i>`` has one ``instance`` triple that names its concept; ``x0`` is the root.

    Example:
        >>> graph(Meaning(Clause(load_ontology()["run.verbs"], past=True)))
        [('x0', 'instance', 'run.verbs'), ('x0', 'tense', 'past')]
    """
    triples: list[Triple] = []
    _clause_graph(meaning.clause, triples, iter(f"x{i}" for i in range(1000)))
    return triples


def _clause_graph(clause: Clause, triples: list[Triple], names: Iterator[str]) -> str:
    name = next(names)
    triples.append((name, "instance", clause.predicate.key))
    triples.append((name, "tense", "past" if clause.past else "present"))
    triples += [(name, "polarity", "-")] if clause.negated else []
    triples += [(name, "modal", clause.modal.key)] if clause.modal else []
    arguments = [("subject", clause.subject), ("object", clause.object)]
    arguments += [(p.relation.label, p) for p in clause.obliques if p.relation]
    for role, phrase in arguments:
        if phrase:
            triples.append((name, role, _phrase_graph(phrase, triples, names)))
    if clause.adverb:
        triples.append((name, "manner", clause.adverb.key))
    if clause.link:
        word, other = clause.link
        triples.append((name, word.label, _clause_graph(other, triples, names)))
    return name


def _phrase_graph(phrase: Phrase, triples: list[Triple], names: Iterator[str]) -> str:
    name = next(names)
    triples.append((name, "instance", phrase.head.key))
    triples.extend((name, "name", part.key) for part in phrase.rest)
    for role in ("determiner", "count", "adjective"):
        if value := getattr(phrase, role):
            triples.append((name, role, value.key))
    if phrase.plural:
        triples.append((name, "number", "plural"))
    if phrase.owner:
        triples.append((name, "owner", _phrase_graph(phrase.owner, triples, names)))
    return name


def weakened(meaning: Meaning, ontology: Ontology, rng: random.Random) -> Meaning | None:
    """Return a statement that follows from this one and says less, or ``None`` if none is found.

    A circumstance, an adverb or a further clause is left out, or a noun becomes its hypernym.
    """
    clause = meaning.clause
    if not _is_plain(meaning):
        return None
    choices = []
    if clause.obliques and clause.predicate.kind != "motion":
        choices.append(replace(clause, obliques=clause.obliques[:-1]))
    if clause.adverb:
        choices.append(replace(clause, adverb=None))
    if clause.link and clause.link[0].label != "that":
        choices.append(replace(clause, link=None))
    for role in ("subject", "object"):
        phrase: Phrase | None = getattr(clause, role)
        if phrase and phrase.head.hypernym and phrase.determiner:
            general: Any = replace(phrase, head=ontology[phrase.head.hypernym], adjective=None)
            choices.append(replace(clause, **{role: general}))
    return replace(meaning, clause=rng.choice(choices)) if choices else None


def contradicted(meaning: Meaning) -> Meaning | None:
    """Return the statement that this one is not so, or ``None`` if negation does not say that."""
    subject = meaning.clause.subject
    if not _is_plain(meaning) or subject is None or subject.head.label == "something":
        return None
    definite = subject.determiner and subject.determiner.label in ("the", "this", "that")
    if subject.head.group == "nouns" and not definite:
        return None
    return replace(meaning, clause=replace(meaning.clause, negated=True, link=None))


def _is_plain(meaning: Meaning) -> bool:
    """Whether leaving something out, or negating, has a sure effect on a meaning's truth."""
    clause = meaning.clause
    labels = {p.determiner.label for p in clause.phrases() if p.determiner}
    labels |= {clause.adverb.label} if clause.adverb else set()
    labels |= {clause.link[0].label} if clause.link else set()
    unsure = clause.negated or clause.modal or labels & {"every", "no", "never", "or", "if"}
    return meaning.mood == "statement" and not unsure
