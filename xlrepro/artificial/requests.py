"""Draws task-oriented requests: what an assistant is asked to do, with intents and slots."""

import random
from dataclasses import dataclass
from typing import Any

from xlrepro.artificial.meaning import Clause, Meaning, Modifier, NounPhrase, Oblique
from xlrepro.artificial.ontology import Concept, Ontology
from xlrepro.artificial.sampler import MeaningSampler, with_changes


@dataclass(frozen=True, slots=True)
class Request:
    """A kind of request: which verbs and nouns express it, and which slots it may have."""

    intent: str
    domain: str
    verbs: tuple[str, ...]
    thing: str
    slots: tuple[str, ...]


REQUESTS = (
    Request("create_event", "calendar", ("make", "plan"), "meeting", ("datetime", "contact")),
    Request("cancel_event", "calendar", ("cancel", "lose"), "meeting", ("datetime", "title")),
    Request("set_alarm", "calendar", ("make", "send"), "alarm", ("datetime", "number")),
    Request("check_weather", "calendar", ("see", "know"), "weather", ("location", "datetime")),
    Request("find_route", "navigation", ("find", "show"), "street", ("location", "attribute")),
    Request("find_place", "navigation", ("find", "see"), "hospital", ("location", "attribute")),
    Request("open_item", "files", ("open", "show"), "letter", ("title", "contact")),
    Request("share_item", "files", ("send", "give"), "picture", ("contact", "datetime")),
    Request("play_music", "music", ("hear", "open"), "song", ("contact", "attribute")),
    Request("send_message", "messages", ("send", "carry"), "message", ("contact", "datetime")),
)
DOMAINS = tuple(dict.fromkeys(request.domain for request in REQUESTS))


class RequestSampler:
    """A stream of requests.

    Args:
        ontology: the concepts.
        rng: the only source of randomness.
    """

    def __init__(self, ontology: Ontology, rng: random.Random) -> None:
        self._sampler = MeaningSampler(ontology, rng)
        self._ontology = ontology
        self._rng = rng

    def meaning(self, domain: str | None = None) -> Meaning:
        """Return one request, of a domain if given."""
        choices = [r for r in REQUESTS if r.domain == domain] if domain else REQUESTS
        request = self._rng.choice(choices)
        draw = self._rng.random()
        clause = self._action(request)
        polite = self._ontology["please.interjections"] if self._rng.random() < 0.25 else None
        if draw < 0.55:
            return Meaning(clause, "request", request.intent, request.domain, polite)
        label, modal = ("I", "must") if draw < 0.7 else ("you", "can")
        person = 0 if label == "I" else 1
        subject = NounPhrase(self._ontology[f"{label}.pronouns"])
        asked = Clause(
            clause.predicate,
            subject,
            clause.object,
            obliques=clause.obliques,
            adverbs=clause.adverbs,
            modal=self._ontology[f"{modal}.auxiliaries"],
            person=person,
        )
        mood = "question" if label == "you" else "statement"
        return Meaning(
            asked,
            "question" if mood == "question" else "statement",
            request.intent,
            request.domain,
            polite,
        )

    def _action(self, request: Request) -> Clause:
        verb = self._verb(self._rng.choice(request.verbs))
        thing = NounPhrase(self._ontology[f"{request.thing}.nouns"], **self._determiner())
        obliques: list[Oblique] = []
        adverbs: tuple[Modifier, ...] = ()
        for slot in request.slots:
            if self._rng.random() > 0.75:
                continue
            if slot == "attribute":
                quality = Modifier(self._sampler.pick("adjectives"), slot="attribute")
                thing = with_changes(thing, {"attributes": (quality,)})
            elif slot == "title":
                title = with_changes(self._sampler.name("group"), {"slot": "title"})
                thing = with_changes(thing, {"owner": title})
            elif slot == "datetime" and self._rng.random() < 0.4:
                adverbs = (Modifier(self._sampler.pick("time_adverbs"), slot="datetime"),)
            else:
                obliques.append(self._oblique(slot))
        return Clause(verb, object=thing, obliques=tuple(obliques), adverbs=adverbs, person=1)

    def _verb(self, label: str) -> Concept:
        known = self._ontology.concepts
        return known.get(f"{label}.verbs") or known["change.verbs"]

    def _determiner(self) -> dict[str, Any]:
        draw = self._rng.random()
        if draw < 0.4:
            return {"determiner": self._ontology["the.determiners"]}
        if draw < 0.7:
            return {"determiner": self._ontology["a.determiners"]}
        return {"possessive": self._ontology["my.possessives"]} if draw < 0.9 else {}

    def _oblique(self, slot: str) -> Oblique:
        if slot == "contact":
            label = self._rng.choice(("with", "to", "for"))
            phrase = self._sampler.name("person")
        elif slot == "location":
            label, phrase = self._rng.choice(("in", "at")), self._sampler.name("place")
        else:
            label = self._rng.choice(("at", "on", "for"))
            count = self._sampler.count()
            head = self._sampler.pick("time")
            phrase = NounPhrase(head, number=2, count=count)
        relation = self._ontology[f"{label}.adpositions"]
        return Oblique(relation, with_changes(phrase, {"slot": slot}))
