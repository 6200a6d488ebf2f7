"""Dependency trees before and after they have an order."""

import random

from xlrepro.artificial.meaning import Meaning
from xlrepro.artificial.typology import Typology

# role -> relation, field of Typology with the share before the head (or a fixed share), and how
# far from the head the dependent stands: rank on the left side, rank on the right side.
ROLES: dict[str, tuple[str, str | float, int, int]] = {
    # dependents of a predicate
    "subject": ("nsubj", "subject", 100, 10),
    "subject_pronoun": ("nsubj", "subject_pronoun", 100, 8),
    "predicate_subject": ("nsubj", "predicate_subject", 100, 10),
    "relativizer_subject": ("nsubj", 1.0, 180, 0),
    "relativizer_object": ("obj", 1.0, 180, 0),
    "object": ("obj", "object", 40, 30),
    "object_pronoun": ("obj", "object_pronoun", 30, 9),
    "recipient": ("iobj", "recipient", 35, 20),
    "oblique": ("obl", "oblique", 70, 50),
    "adverb": ("advmod", "adverb", 60, 40),
    "negation": ("advmod", "auxiliary", 15, 7),
    "auxiliary": ("aux", "auxiliary", 20, 5),
    "copula": ("cop", "copula", 18, 4),
    "infinitive_marker": ("mark", 1.0, 16, 0),
    "subordinator": ("mark", "subordinator", 200, 110),
    "infinitive": ("xcomp", "infinitive", 45, 60),
    "complement": ("ccomp", "complement", 46, 70),
    "adverbial_clause": ("advcl", "adverbial_clause", 150, 80),
    "question_particle": ("discourse", 0.0, 0, 190),
    "discourse": ("discourse", 1.0, 190, 0),
    # dependents of a nominal or an adjective
    "determiner": ("det", "determiner", 80, 40),
    "numeral": ("nummod", "numeral", 75, 20),
    "adjective": ("amod", "adjective", 50, 10),
    "degree": ("advmod", "degree", 10, 10),
    "focus": ("advmod", "focus", 90, 45),
    "genitive": ("nmod", "genitive", 60, 30),
    "possessive": ("nmod", "possessive", 70, 15),
    "modifier": ("nmod", "genitive", 62, 35),
    "relative": ("acl", "relative", 65, 60),
    "apposition": ("appos", 0.0, 0, 65),
    "case": ("case", "adposition", 120, 120),
    # coordination and names
    "conjunct": ("conj", 0.0, 0, 100),
    "coordinator": ("cc", "coordinator", 210, 1),
    "name": ("flat", 0.0, 0, 1),
    # punctuation: a comma before or after its clause, the mark at the end
    "comma_before": ("punct", 1.0, 220, 0),
    "comma_after": ("punct", 0.0, 0, 220),
    "stop": ("punct", 0.0, 0, 300),
}


class Node:
    """One word on its way to a sentence; ``position`` is set when its tree is given an order."""

    __slots__ = (
        "dependents",
        "entity",
        "form",
        "head",
        "position",
        "relation",
        "role",
        "sense",
        "slot",
        "upos",
    )

    def __init__(self, form: str, upos: str, sense: str | None = None) -> None:
        self.form = form
        self.upos = upos
        self.sense = sense
        self.role = ""
        self.relation = "root"
        self.head: Node | None = None
        self.dependents: list[tuple[bool, int, Node]] = []
        self.entity: str | None = None
        self.slot: str | None = None
        self.position = 0


class Attacher:
    """Attaches dependents on the side that a typology's shares draw.

    Args:
        typology: the shares.
        rng: draws the side where a share is between 0 and 1.
    """

    def __init__(self, typology: Typology, rng: random.Random) -> None:
        self.rng = rng
        self._roles = {
            role: (
                relation,
                share if isinstance(share, float) else float(getattr(typology, share)),
                left,
                right,
            )
            for role, (relation, share, left, right) in ROLES.items()
        }

    def attach(self, head: Node, dependent: Node, role: str, outer: int = 0) -> None:
        """Make one word a dependent of another, ``outer`` ranks further from it than usual."""
        relation, share, left, right = self._roles[role]
        before = share >= 1 or (share > 0 and self.rng.random() < share)
        dependent.head = head
        dependent.relation = relation
        dependent.role = role
        head.dependents.append((before, outer + (left if before else right), dependent))


def in_order(node: Node) -> list[Node]:
    """Return the words of a subtree in order: on each side the lowest rank is next to the head."""
    if not node.dependents:
        return [node]
    words: list[Node] = []
    side = [entry for entry in node.dependents if entry[0]]
    if len(side) > 1:
        side.sort(key=_rank, reverse=True)
    for _, _, dependent in side:
        words += in_order(dependent)
    words.append(node)
    side = [entry for entry in node.dependents if not entry[0]]
    if len(side) > 1:
        side.sort(key=_rank)
    for _, _, dependent in side:
        words += in_order(dependent)
    return words


def _rank(entry: tuple[bool, int, Node]) -> int:
    return entry[1]


class Realisation:
    """A meaning in the words of one language, before it becomes a ``Sentence``.

    Attributes:
        words: in order.
        meaning: what they say.
        senses: key of the concept that each word stands for, ``None`` for punctuation.
    """

    __slots__ = ("meaning", "words")

    def __init__(self, words: list[Node], meaning: Meaning) -> None:
        self.words = words
        self.meaning = meaning

    @property
    def senses(self) -> tuple[str | None, ...]:
        """Return the sense of every word."""
        return tuple(word.sense for word in self.words)
