"""Noun phrases and attributes of a meaning as dependency subtrees in one language."""

import random
from collections.abc import Callable

from xlrepro.artificial.meaning import Clause, Modifier, NounPhrase, Oblique
from xlrepro.artificial.morphology import Morphology
from xlrepro.artificial.ontology import Concept, Ontology
from xlrepro.artificial.tree import Attacher, Node

# Circumstances that a case can mark without an adposition.
CASE_RELATIONS = frozenset({"in", "to", "with", "on", "from", "of"})


class PhraseBuilder:
    """Builds noun phrases.

    Args:
        ontology: for the concepts of function words.
        morphology: of the language.
        rng: for choices that the typology leaves open.
        relative_clause: builds the subtree of a relative clause about a phrase.
    """

    def __init__(
        self,
        ontology: Ontology,
        morphology: Morphology,
        rng: random.Random,
        relative_clause: Callable[[Clause, NounPhrase], Node],
    ) -> None:
        self.ontology = ontology
        self.morphology = morphology
        self.typology = morphology.typology
        self.chance = rng.random
        self.attach = Attacher(self.typology, rng).attach
        self._relative_clause = relative_clause

    def word(self, concept: Concept, form: str | None = None) -> Node:
        """Return a node for a concept; without a form, in its only form."""
        return Node(form or self.morphology.stems[concept.key], concept.upos, concept.key)

    def comma(self) -> Node:
        """Return a comma."""
        return Node(",", "PUNCT")

    def phrase(self, phrase: NounPhrase, case: str = "nom") -> Node:
        """Return the head of a noun phrase's subtree."""
        group = phrase.head.group
        if group == "pronouns":
            head = self.word(phrase.head, self.morphology.bare(phrase.head, case))
        elif group == "names":
            head = self._name(phrase, case)
        else:
            head = self._common_noun(phrase, case)
        self._expand(head, phrase, case)
        if phrase.slot:
            head.slot = phrase.slot
        return head

    def _name(self, phrase: NounPhrase, case: str) -> Node:
        head = self.word(phrase.head, self.morphology.bare(phrase.head, case))
        head.entity = f"B-{phrase.entity}"
        for part in phrase.name_rest:
            rest = self.word(part, self.morphology.bare(part, case))
            rest.entity = f"I-{phrase.entity}"
            self.attach(head, rest, "name")
        return head

    def _common_noun(self, phrase: NounPhrase, case: str) -> Node:
        determiner = phrase.determiner
        label = determiner.label if determiner else ""
        form = self.morphology.noun(phrase.head, phrase.number, case, label == "the")
        head = self.word(phrase.head, form)
        if determiner and self._is_a_word(label):
            self.attach(head, self.word(determiner), "determiner")
        if phrase.possessive:
            self.attach(head, self.word(phrase.possessive), "possessive")
        if isinstance(phrase.count, str):
            self.attach(head, Node(phrase.count, "NUM", "number"), "numeral")
        elif phrase.count:
            self.attach(head, self.word(phrase.count), "numeral")
        for attribute in phrase.attributes:
            adjective = self.adjective(attribute, phrase.number, case)
            self.attach(head, adjective, "adjective")
        return head

    def _is_a_word(self, label: str) -> bool:
        """Tell whether a determiner is a word of its own in this language."""
        if label == "the":
            return self.typology.articles != "none" and not self.typology.article_suffix
        return label != "a" or self.typology.articles == "both"

    def adjective(self, attribute: Modifier, number: int = 1, case: str = "nom") -> Node:
        """Return an adjective with its degree and its coordinated partner."""
        form = self.morphology.adjective(attribute.concept, number, case)
        head = self.word(attribute.concept, form)
        if attribute.degree:
            self.attach(head, self.word(attribute.degree), "degree")
        if attribute.partner:
            partner = self.adjective(attribute.partner, number, case)
            conjunction = self.word(self.ontology["and.coordinators"])
            self.attach(partner, conjunction, "coordinator")
            self.attach(head, partner, "conjunct")
        if attribute.slot:
            head.slot = attribute.slot
        return head

    def _expand(self, head: Node, phrase: NounPhrase, case: str) -> None:
        if phrase.owner:
            self.attach(head, self._owner(phrase.owner), "genitive")
        if phrase.oblique:
            self.attach(head, self.oblique(phrase.oblique), "modifier")
        if phrase.relative:
            self.attach(head, self._relative_clause(phrase.relative, phrase), "relative")
        if phrase.apposition:
            apposition = self.phrase(phrase.apposition, case)
            self.attach(apposition, self.comma(), "comma_before")
            self.attach(apposition, self.comma(), "comma_after")
            self.attach(head, apposition, "apposition")
        if phrase.partner:
            coordinator, other = phrase.partner
            conjunct = self.phrase(other, case)
            self.attach(conjunct, self.word(coordinator), "coordinator")
            if self.chance() < 0.12:
                self.attach(conjunct, self.comma(), "comma_before")
            self.attach(head, conjunct, "conjunct")
        if phrase.focus:
            self.attach(head, self.word(phrase.focus), "focus")

    def _owner(self, owner: NounPhrase) -> Node:
        if "gen" in self.morphology.cases:
            return self.phrase(owner, "gen")
        return self.oblique(Oblique(self.ontology["of.adpositions"], owner))

    def oblique(self, oblique: Oblique) -> Node:
        """Return a phrase with its adposition, or in the case that stands for one."""
        relation = oblique.relation
        if "obl" in self.morphology.cases:
            head = self.phrase(oblique.phrase, "obl")
            if relation.label in CASE_RELATIONS and self.chance() < self.typology.case_obliques:
                return head
        else:
            head = self.phrase(oblique.phrase, "acc")
        self.attach(head, self.word(relation), "case")
        return head
