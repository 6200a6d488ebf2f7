"""Clauses of a meaning as dependency trees in one language."""

import random

from xlrepro.artificial.meaning import Clause, Meaning, Modifier, NounPhrase, Oblique
from xlrepro.artificial.morphology import Morphology
from xlrepro.artificial.ontology import Concept, Ontology
from xlrepro.artificial.phrases import PhraseBuilder
from xlrepro.artificial.tree import Node
from xlrepro.artificial.verb_second import order_main_clause, order_subordinate_clause

# Clause-level dependents of a noun or adjective stand outside of its own phrase.
OUTSIDE_PHRASE = 130


class ClauseBuilder:
    """Builds the tree of a meaning.

    Args:
        ontology: for the concepts of function words.
        morphology: of the language.
        rng: draws sides, and what is left out.
    """

    def __init__(self, ontology: Ontology, morphology: Morphology, rng: random.Random) -> None:
        self.ontology = ontology
        self.morphology = morphology
        self.typology = morphology.typology
        self.rng = rng
        self.phrases = PhraseBuilder(ontology, morphology, rng, self._relative)
        self.attach = self.phrases.attach
        self.word = self.phrases.word

    def tree(self, meaning: Meaning) -> Node:
        """Return the root of a sentence's tree, its final mark attached."""
        root = self.clause(meaning.clause, finite=meaning.mood != "request")
        if meaning.mood == "question" and self.typology.question_particle:
            particle = self.word(self.ontology["Q.particles"])
            self.attach(root, particle, "question_particle", 2 * OUTSIDE_PHRASE)
        if meaning.discourse:
            interjection = self.word(meaning.discourse)
            self.attach(root, interjection, "discourse", 2 * OUTSIDE_PHRASE)
        mark = {"question": "?", "request": "!"}.get(meaning.mood, ".")
        self.attach(root, Node(mark, "PUNCT"), "stop", 2 * OUTSIDE_PHRASE)
        return root

    def clause(
        self, clause: Clause, *, finite: bool = True, main: bool = True, parts: bool = True
    ) -> Node:
        """Return the predicate of a clause's subtree.

        Args:
            clause: what to say.
            finite: with tense and agreement; requests and infinitives have neither.
            main: a main clause, for languages where the verb is second there.
            parts: attach adverbial and coordinated clauses too.
        """
        head, outer = self._predicate(clause, finite)
        self._arguments(head, clause, outer)
        self._circumstances(head, clause, outer)
        if clause.negated:
            negation = self.word(self.ontology["not.particles"])
            self.attach(head, negation, "negation", outer)
        if self.typology.verb_second and finite:
            if main:
                order_main_clause(head, self.rng, outer)
            else:
                order_subordinate_clause(head, outer)
        if parts:
            self._further_clauses(head, clause, outer)
        return head

    def _predicate(self, clause: Clause, finite: bool) -> tuple[Node, int]:
        if isinstance(clause.predicate, Concept):
            return self._verb(clause.predicate, clause, finite), 0
        number = 2 if clause.person > 2 else 1
        if isinstance(clause.predicate, Modifier):
            head = self.phrases.adjective(clause.predicate, number)
        else:
            head = self.phrases.phrase(clause.predicate)
        self._copula(head, clause)
        return head, OUTSIDE_PHRASE

    def _auxiliary(self, clause: Clause) -> Node | None:
        """Return the finite auxiliary that a clause's tense or modality needs."""
        if clause.modal:
            form = self.morphology.finite(clause.modal, clause.person)
            return self.word(clause.modal, form)
        if clause.tense == "future":
            label = "will"
        elif clause.tense == "past" and (
            not self.typology.tense or self.rng.random() < self.typology.perfect
        ):
            label = "have"
        else:
            return None
        concept = self.ontology[f"{label}.auxiliaries"]
        return self.word(concept, self.morphology.finite(concept, clause.person))

    def _verb(self, verb: Concept, clause: Clause, finite: bool) -> Node:
        if not finite:
            return self.word(verb, self.morphology.infinitive(verb))
        auxiliary = self._auxiliary(clause)
        if auxiliary is None:
            form = self.morphology.finite(verb, clause.person, clause.tense == "past")
            return self.word(verb, form)
        head = self.word(verb, self.morphology.infinitive(verb))
        self.attach(head, auxiliary, "auxiliary")
        return head

    def _copula(self, head: Node, clause: Clause) -> None:
        concept = self.ontology["be.auxiliaries"]
        auxiliary = self._auxiliary(clause)
        if auxiliary is not None:
            self.attach(head, auxiliary, "auxiliary", OUTSIDE_PHRASE)
            form = self.morphology.infinitive(concept)
        else:
            if clause.tense == "present" and self.rng.random() < self.typology.copula_dropped:
                return
            form = self.morphology.finite(concept, clause.person, clause.tense == "past")
        self.attach(head, self.word(concept, form), "copula", OUTSIDE_PHRASE)

    def _arguments(self, head: Node, clause: Clause, outer: int) -> None:
        subject, obj, recipient = clause.subject, clause.object, clause.recipient
        if subject:
            pronoun = subject.head.group == "pronouns"
            if not (pronoun and self.rng.random() < self.typology.pro_drop):
                role = "predicate_subject" if outer else "subject"
                role = "subject_pronoun" if pronoun else role
                self.attach(head, self.phrases.phrase(subject), role, outer)
        if obj:
            role = "object_pronoun" if obj.head.group == "pronouns" else "object"
            self.attach(head, self.phrases.phrase(obj, "acc"), role)
        if recipient and recipient.head.group == "pronouns":
            self.attach(head, self.phrases.phrase(recipient, "obl"), "recipient")
        elif recipient:
            oblique = Oblique(self.ontology["to.adpositions"], recipient)
            self.attach(head, self.phrases.oblique(oblique), "oblique")

    def _circumstances(self, head: Node, clause: Clause, outer: int) -> None:
        for oblique in clause.obliques:
            self.attach(head, self.phrases.oblique(oblique), "oblique", outer)
        for adverb in clause.adverbs:
            word = self.word(adverb.concept)
            if adverb.degree:
                self.attach(word, self.word(adverb.degree), "degree")
            word.slot = adverb.slot
            self.attach(head, word, "adverb", outer)

    def _further_clauses(self, head: Node, clause: Clause, outer: int) -> None:
        if clause.infinitive:
            infinitive = self.clause(clause.infinitive, finite=False)
            if self.typology.infinitive_marker:
                marker = self.word(self.ontology["to.particles"])
                self.attach(infinitive, marker, "infinitive_marker", OUTSIDE_PHRASE)
            self.attach(head, infinitive, "infinitive", outer)
        if clause.complement:
            complement = self.clause(clause.complement, main=False)
            self._subordinate(complement, self.ontology["that.subordinators"])
            self.attach(head, complement, "complement", outer)
        if clause.adverbial:
            subordinator, other = clause.adverbial
            adverbial = self.clause(other, main=False)
            self._subordinate(adverbial, subordinator)
            self.attach(head, adverbial, "adverbial_clause", outer)
            before = head.dependents[-1][0]
            comma = "comma_after" if before else "comma_before"
            self.attach(adverbial, self.phrases.comma(), comma, 2 * OUTSIDE_PHRASE)
        if clause.partner:
            coordinator, other = clause.partner
            conjunct = self.clause(other)
            self.attach(conjunct, self.word(coordinator), "coordinator", OUTSIDE_PHRASE)
            self.attach(conjunct, self.phrases.comma(), "comma_before", OUTSIDE_PHRASE)
            self.attach(head, conjunct, "conjunct", OUTSIDE_PHRASE)

    def _subordinate(self, head: Node, subordinator: Concept) -> None:
        self.attach(head, self.word(subordinator), "subordinator", OUTSIDE_PHRASE)

    def _relative(self, clause: Clause, phrase: NounPhrase) -> Node:
        """Return a relative clause about a phrase; its verb agrees with the phrase."""
        if clause.gap == "subject" and phrase.number == 2:
            clause = Clause(
                clause.predicate, object=clause.object, tense=clause.tense, gap="subject", person=5
            )
        head = self.clause(clause, main=False, parts=False)
        if self.typology.relative_pronoun:
            pronoun = self.ontology["who.pronouns"]
            case = "nom" if clause.gap == "subject" else "acc"
            word = self.word(pronoun, self.morphology.bare(pronoun, case))
            self.attach(head, word, f"relativizer_{clause.gap}")
        return head
