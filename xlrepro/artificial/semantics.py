"""What can be read off a meaning: sentiment, a predicate-argument graph, what it entails.

Labels made here are true by construction: a weakened statement follows from the one it was made
from, a contradiction cannot be true together with it.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from xlrepro.artificial.meaning import Clause, Meaning, Modifier, NounPhrase
from xlrepro.artificial.ontology import Concept, Ontology

Triple = tuple[str, str, str]
# A part of a meaning with these may be true although the statement without them is not, or the
# reverse: conditions, never, almost, negated and distributive descriptions.
BLOCKING = frozenset({"if.subordinators", "never.manner_adverbs", "almost.degree_adverbs"})
DEFINITE = ("the", "this", "that")
QUANTIFIERS = frozenset({"every.determiners", "no.determiners"})


def sentiment(meaning: Meaning) -> int:
    """Return 1, 0 or -1: the sign of the sum of polarities, each turned round by negation."""
    total = _polarity(meaning.clause)
    return (total > 0) - (total < 0)


def _polarity(clause: Clause) -> int:
    polarity = 0
    if isinstance(clause.predicate, Concept):
        polarity += clause.predicate.polarity
    elif isinstance(clause.predicate, Modifier):
        polarity += _modifier_polarity(clause.predicate)
    else:
        polarity += _phrase_polarity(clause.predicate)
    polarity += sum(_modifier_polarity(adverb) for adverb in clause.adverbs)
    total = -polarity if clause.negated else polarity
    total += sum(_phrase_polarity(p) for p in _arguments(clause))
    return total + sum(_polarity(part) for part in _subclauses(clause))


def _modifier_polarity(modifier: Modifier) -> int:
    partner = _modifier_polarity(modifier.partner) if modifier.partner else 0
    return modifier.concept.polarity + partner


def _phrase_polarity(phrase: NounPhrase) -> int:
    total = phrase.head.polarity + sum(_modifier_polarity(a) for a in phrase.attributes)
    for part in (phrase.owner, phrase.apposition, phrase.partner and phrase.partner[1]):
        total += _phrase_polarity(part) if part else 0
    if phrase.oblique:
        total += _phrase_polarity(phrase.oblique.phrase)
    return total + (_polarity(phrase.relative) if phrase.relative else 0)


def _arguments(clause: Clause) -> list[NounPhrase]:
    named = [p for p in (clause.subject, clause.object, clause.recipient) if p]
    return named + [oblique.phrase for oblique in clause.obliques]


def _subclauses(clause: Clause) -> list[Clause]:
    joined = [pair[1] for pair in (clause.adverbial, clause.partner) if pair]
    return [c for c in (clause.complement, clause.infinitive) if c] + joined


def graph(meaning: Meaning) -> list[Triple]:
    """Return the meaning as a rooted graph of triples (source, role, target).

    Every node ``x<i>`` has one ``instance`` triple that names its concept; ``x0`` is the root.
    The other roles are ``subject``, ``object``, ``recipient``, ``attribute``, ``owner``, … and
    the adpositions and subordinators of the circumstances.
    """
    triples: list[Triple] = []
    _clause_graph(meaning.clause, triples, iter(f"x{i}" for i in range(10_000)))
    return triples


def _node(concept: Concept | str, triples: list[Triple], names: Iterator[str]) -> str:
    name = next(names)
    triples.append((name, "instance", concept if isinstance(concept, str) else concept.key))
    return name


def _clause_graph(clause: Clause, triples: list[Triple], names: Iterator[str]) -> str:
    if isinstance(clause.predicate, Concept):
        name = _node(clause.predicate, triples, names)
    elif isinstance(clause.predicate, Modifier):
        name = _modifier_graph(clause.predicate, triples, names)
    else:
        name = _phrase_graph(clause.predicate, triples, names)
    triples.append((name, "tense", clause.tense))
    if clause.negated:
        triples.append((name, "polarity", "-"))
    if clause.modal:
        triples.append((name, "modal", clause.modal.key))
    for role in ("subject", "object", "recipient"):
        phrase = getattr(clause, role)
        if phrase:
            triples.append((name, role, _phrase_graph(phrase, triples, names)))
    for oblique in clause.obliques:
        target = _phrase_graph(oblique.phrase, triples, names)
        triples.append((name, oblique.relation.label, target))
    for adverb in clause.adverbs:
        triples.append((name, "manner", _modifier_graph(adverb, triples, names)))
    for role in ("complement", "infinitive"):
        part = getattr(clause, role)
        if part:
            triples.append((name, role, _clause_graph(part, triples, names)))
    for pair in (clause.adverbial, clause.partner):
        if pair:
            triples.append((name, pair[0].label, _clause_graph(pair[1], triples, names)))
    return name


def _modifier_graph(modifier: Modifier, triples: list[Triple], names: Iterator[str]) -> str:
    name = _node(modifier.concept, triples, names)
    if modifier.degree:
        triples.append((name, "degree", _node(modifier.degree, triples, names)))
    if modifier.partner:
        triples.append((name, "and", _modifier_graph(modifier.partner, triples, names)))
    return name


def _phrase_graph(phrase: NounPhrase, triples: list[Triple], names: Iterator[str]) -> str:
    name = _node(phrase.head, triples, names)
    if phrase.entity:
        triples.append((name, "entity", phrase.entity))
    triples.extend((name, "name", part.key) for part in phrase.name_rest)
    for role in ("determiner", "possessive", "count", "focus"):
        value = getattr(phrase, role)
        if value:
            triples.append((name, role, value if isinstance(value, str) else value.key))
    if phrase.number == 2:
        triples.append((name, "number", "plural"))
    for attribute in phrase.attributes:
        triples.append((name, "attribute", _modifier_graph(attribute, triples, names)))
    for role in ("owner", "apposition"):
        part = getattr(phrase, role)
        if part:
            triples.append((name, role, _phrase_graph(part, triples, names)))
    if phrase.oblique:
        target = _phrase_graph(phrase.oblique.phrase, triples, names)
        triples.append((name, phrase.oblique.relation.label, target))
    if phrase.partner:
        target = _phrase_graph(phrase.partner[1], triples, names)
        triples.append((name, phrase.partner[0].label, target))
    if phrase.relative:
        part_name = _clause_graph(phrase.relative, triples, names)
        triples.append((part_name, phrase.relative.gap or "subject", name))
    return name


def weakened(meaning: Meaning, ontology: Ontology, rng: random.Random) -> Meaning | None:
    """Return a statement that follows from this one and says less, or ``None`` if none is found.

    A circumstance, an adverb or a further clause is left out, or a noun becomes its hypernym.
    """
    if not is_plain_statement(meaning):
        return None
    clause = meaning.clause
    choices: list[Clause] = []
    if clause.obliques and isinstance(clause.predicate, Concept):
        choices.append(replace(clause, obliques=clause.obliques[:-1]))
    if clause.adverbs:
        choices.append(replace(clause, adverbs=clause.adverbs[:-1]))
    if clause.adverbial:
        choices.append(replace(clause, adverbial=None))
    if clause.partner:
        choices.append(replace(clause, partner=None))
    for role in ("subject", "object"):
        phrase: NounPhrase | None = getattr(clause, role)
        if phrase and phrase.head.hypernym and phrase.determiner and not phrase.relative:
            general = replace(phrase, head=ontology[phrase.head.hypernym], attributes=())
            change: dict[str, Any] = {role: general}
            choices.append(replace(clause, **change))
    return replace(meaning, clause=rng.choice(choices)) if choices else None


def contradicted(meaning: Meaning) -> Meaning | None:
    """Return the statement that this one is not so, or ``None`` if negation does not say that."""
    subject = meaning.clause.subject
    if not is_plain_statement(meaning) or subject is None or not _is_definite(subject):
        return None
    clause = replace(meaning.clause, negated=True, partner=None, adverbial=None)
    return replace(meaning, clause=clause)


def _is_definite(phrase: NounPhrase) -> bool:
    """Tell whether a phrase means the same thing again when its sentence is negated."""
    if phrase.head.group == "nouns":
        pointing = phrase.determiner is not None and phrase.determiner.label in DEFINITE
        return pointing or phrase.possessive is not None
    return phrase.head.label != "something" and phrase.partner is None


def is_plain_statement(meaning: Meaning) -> bool:
    """Tell whether leaving something out or negating has a sure effect on a meaning's truth."""
    clause = meaning.clause
    mentioned = {target for _, role, target in graph(meaning) if role in ("instance", "determiner")}
    adverbial = clause.adverbial[0].key if clause.adverbial else ""
    disjunction = clause.partner is not None and clause.partner[0].label == "or"
    focused = any(role == "focus" for _, role, _ in graph(meaning))
    return (
        meaning.mood == "statement"
        and not clause.negated
        and clause.modal is None
        and not disjunction
        and not focused
        and adverbial not in BLOCKING
        and not mentioned & (BLOCKING | QUANTIFIERS)
    )
