"""How a language says a meaning: words, a dependency tree, an order."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xlrepro.artificial.meanings import Clause, Meaning, Phrase
from xlrepro.artificial.words import Concept, Lexicon, Typology, load_ontology
from xlrepro.data.sentences import Sentence


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One word of a dependency tree.

    Attributes:
        form: as written.
        upos: its part of speech.
        sense: key of its concept; None for punctuation.
        relation: to its head.
        head: None of the root.
        dependents: each with whether it stands before its head, and how far from it.
        entity, slot: its tags.
        position: from 1, set when the tree is given an order.
    """

    form: str
    upos: str
    sense: str | None = None
    relation: str = "root"
    head: "Node | None" = None
    dependents: "list[tuple[bool, int, Node]]" = field(default_factory=list)
    entity: str = "O"
    slot: str = "O"
    position: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Realisation:
    """A meaning in the words of one language, in order."""

    words: list[Node]
    meaning: Meaning

    @property
    def senses(self) -> tuple[str | None, ...]:
        """Key of the concept that each word stands for; ``None`` for punctuation."""
        return tuple(word.sense for word in self.words)

    @property
    def forms(self) -> tuple[str, ...]:
        """The words as written."""
        return tuple(word.form for word in self.words)


class Language:
    """One language.

    Attributes:
        code: its name.
        typology: its parameters.
        stems: stem by concept key.
    """

    def __init__(self, typology: Typology, lexicon: Lexicon) -> None:
        self.code, self.typology = typology.code, typology
        self.stems, self._suffixes = lexicon.stems, lexicon.suffixes
        self._ontology = load_ontology()
        self._shares = {
            role: float(getattr(typology, str(share), share))  # a number is no field
            for role, (_, share, _, _) in self._ontology.roles.items()
        }

    def realise(self, meanings: Iterable[Meaning], rng: random.Random) -> Iterator[Realisation]:
        """Yield each meaning in this language's words; ``rng`` draws orders that vary."""
        for meaning in meanings:
            words = _in_order(self._sentence(meaning, rng))
            for position, word in enumerate(words, start=1):
                word.position = position
            yield Realisation(words, meaning)

    def paradigm(self, concept: Concept) -> list[str]:
        """Return the forms of a concept; form i of two languages translate each other."""
        if concept.group == "nouns":
            cases = (False, True)
            return [self._noun(concept, plural, case) for plural in cases for case in cases]
        if concept.group == "verbs":
            stem = self.stems[concept.key]
            return [stem, self._verb(concept, False, True), self._verb(concept, True, False)]
        return [self.stems[concept.key]]

    def _noun(self, concept: Concept, plural: bool, accusative: bool) -> str:
        form = self.stems[concept.key]
        form += self._suffixes["plural"] if plural and self.typology.plural else ""
        return form + (self._suffixes["accusative"] if accusative and self.typology.case else "")

    def _verb(self, concept: Concept, past: bool, third: bool) -> str:
        if past and self.typology.tense:
            return self.stems[concept.key] + self._suffixes["past"]
        agrees = third and not past and self.typology.agreement
        return self.stems[concept.key] + (self._suffixes["third"] if agrees else "")

    # ---- trees

    def _word(self, concept: Concept, form: str | None = None) -> Node:
        return Node(form or self.stems[concept.key], concept.upos, concept.key)

    def _attach(self, head: Node, dependent: Node, role: str, rng: random.Random) -> Node:
        relation, _, left, right = self._ontology.roles[role]
        share = self._shares[role]
        before = share >= 1 or (share > 0 and rng.random() < share)
        dependent.head, dependent.relation = head, relation
        head.dependents.append((before, left if before else right, dependent))
        return dependent

    def _sentence(self, meaning: Meaning, rng: random.Random) -> Node:
        head = self._clause(meaning.clause, rng)
        if meaning.mood == "question" and self.typology.question_particle:
            particle = self._word(self._ontology["Q.particles"])
            self._attach(head, particle, "question_particle", rng)
        if meaning.polite:
            self._attach(head, self._word(meaning.polite), "polite", rng)
        mark = Node("?" if meaning.mood == "question" else ".", "PUNCT")
        self._attach(head, mark, "stop", rng)
        return head

    def _clause(self, clause: Clause, rng: random.Random) -> Node:
        predicate, subject, known = clause.predicate, clause.subject, self._ontology
        helped = clause.modal is not None or (clause.past and not self.typology.tense)
        third = subject is not None and not subject.plural and subject.head.label not in "I you"
        verb = predicate if predicate.group == "verbs" else known["be.auxiliaries"]
        word = self._word(verb, self._verb(verb, clause.past, third and not helped))
        head = word if verb is predicate else self._word(predicate)
        if word is not head:
            self._attach(head, word, "copula", rng)
        if helped:
            auxiliary = clause.modal or known["have.auxiliaries"]
            self._attach(head, self._word(auxiliary), "auxiliary", rng)
        if clause.negated:
            self._attach(head, self._word(known["not.particles"]), "negation", rng)
        is_pronoun = subject is not None and subject.head.group == "pronouns"
        if subject and not (is_pronoun and rng.random() < self.typology.pro_drop):
            self._attach(head, self._phrase(subject, rng), "subject", rng)
        if clause.object:
            self._attach(head, self._phrase(clause.object, rng, accusative=True), "object", rng)
        for phrase in clause.obliques:
            self._attach(head, self._phrase(phrase, rng), "oblique", rng)
        if clause.adverb:
            adverb = self._attach(head, self._word(clause.adverb), "adverb", rng)
            adverb.slot = f"B-{clause.adverb_slot}" if clause.adverb_slot else "O"
        if clause.link:
            self._link(head, *clause.link, rng)
        return head

    def _link(self, head: Node, word: Concept, clause: Clause, rng: random.Random) -> None:
        other = self._clause(clause, rng)
        self._attach(other, self._word(word), word.group.removesuffix("s"), rng)
        role = "complement" if word.label == "that" else "adverbial_clause"
        if word.group == "coordinators":
            self._attach(other, Node(",", "PUNCT"), "comma", rng)
            role = "conjunct"
        self._attach(head, other, role, rng)

    def _phrase(self, phrase: Phrase, rng: random.Random, *, accusative: bool = False) -> Node:
        """Return the head of a phrase's subtree, its entity and slot marked word by word."""
        is_noun = phrase.head.group == "nouns"
        form = self._noun(phrase.head, phrase.plural, accusative) if is_noun else None
        head = self._word(phrase.head, form)
        if phrase.entity:
            head.entity = f"B-{phrase.entity}"
        for part in phrase.rest:
            name = self._attach(head, self._word(part), "name", rng)
            name.entity = f"I-{phrase.entity}"
        determiner = phrase.determiner
        articles = {"none": ("the", "a"), "definite": ("a",), "both": ()}[self.typology.articles]
        if determiner and determiner.label not in articles:
            self._attach(head, self._word(determiner), "determiner", rng)
        if phrase.count:
            self._attach(head, self._word(phrase.count), "numeral", rng)
        if phrase.adjective:
            adjective = self._attach(head, self._word(phrase.adjective), "adjective", rng)
            adjective.slot = "B-attribute" if phrase.slot == "attribute" else "O"
        if phrase.owner:
            owner = self._phrase(phrase.owner, rng)
            self._attach(owner, self._word(self._ontology["of.adpositions"]), "case", rng)
            self._attach(head, owner, "genitive", rng)
        if phrase.slot and phrase.slot != "attribute":
            for number, node in enumerate(_in_order(head)):
                if node.relation != "case":
                    node.slot = f"{'I' if number else 'B'}-{phrase.slot}"
        if phrase.relation:
            self._attach(head, self._word(phrase.relation), "case", rng)
        return head


def _in_order(node: Node) -> list[Node]:
    """Return the words of a subtree in order: on each side the lowest rank is next to the head."""
    if not node.dependents:
        return [node]
    ranked = sorted(node.dependents, key=lambda entry: entry[1])
    before = [word for is_before, _, d in reversed(ranked) if is_before for word in _in_order(d)]
    after = [word for is_before, _, d in ranked if not is_before for word in _in_order(d)]
    return [*before, node, *after]


def sentence_of(realisation: Realisation) -> Sentence:
    """Return the annotated sentence of a realisation."""
    words = realisation.words
    return Sentence(
        tokens=realisation.forms,
        upos=tuple(word.upos for word in words),
        heads=tuple(word.head.position if word.head else 0 for word in words),
        deprels=tuple(word.relation for word in words),
        entities=tuple(word.entity for word in words),
        slots=tuple(word.slot for word in words),
        intent=realisation.meaning.intent,
    )
