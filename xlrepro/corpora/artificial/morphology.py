"""Word forms: stems with the suffixes that a typology asks for."""

from xlrepro.corpora.artificial.lexicon import Lexicon
from xlrepro.corpora.artificial.ontology import Concept
from xlrepro.corpora.artificial.typology import Typology

# Cases that each number of case suffixes can tell apart.
CASES = {0: (), 1: ("acc",), 3: ("acc", "gen", "obl")}


class Morphology:
    """Inflects the words of one language; forms are remembered.

    Args:
        typology: which categories are marked.
        lexicon: stems and suffixes.
    """

    def __init__(self, typology: Typology, lexicon: Lexicon) -> None:
        self.typology = typology
        self.stems = lexicon.stems
        self.suffixes = lexicon.suffixes
        self.cases = CASES[typology.cases]
        self._plural = lexicon.suffixes["plural"] if typology.plural else ""
        self._past = lexicon.suffixes["past"] if typology.tense else ""
        self._forms: dict[tuple[object, ...], str] = {}

    def noun(
        self, concept: Concept, number: int = 1, case: str = "nom", definite: bool = False
    ) -> str:
        """Return a noun's form; ``definite`` only shows where the article is a suffix."""
        features = (concept.key, number, case, definite)
        form = self._forms.get(features)
        if form is None:
            form = self.stems[concept.key] + (self._plural if number == 2 else "")
            if definite and self.typology.article_suffix:
                form += self.suffixes["definite"]
            if case in self.cases:
                form += self.suffixes[case]
            self._forms[features] = form
        return form

    def bare(self, concept: Concept, case: str = "nom") -> str:
        """Return the form of a name or pronoun, which takes case but no number."""
        return self.noun(concept, 1, case)

    def adjective(self, concept: Concept, number: int = 1, case: str = "nom") -> str:
        """Return an adjective's form, in agreement with its noun where the language has that."""
        if self.typology.adjective_agreement:
            return self.noun(concept, number, case)
        return self.stems[concept.key]

    def finite(self, concept: Concept, person: int = 2, past: bool = False) -> str:
        """Return a verb's or auxiliary's form for a person (0-5) and tense."""
        features = (concept.key, person, past)
        form = self._forms.get(features)
        if form is None:
            form = self.stems[concept.key] + (self._past if past else "")
            agreement = self.typology.agreement
            if agreement == "full" or (agreement == "third" and person == 2 and not past):
                form += self.suffixes[f"person{person}"]
            self._forms[features] = form
        return form

    def infinitive(self, concept: Concept) -> str:
        """Return a verb's infinitive: the stem, with a suffix where finite forms have one too."""
        if self.typology.agreement == "full":
            return self.stems[concept.key] + self.suffixes["infinitive"]
        return self.stems[concept.key]

    def paradigm(self, concept: Concept) -> list[str]:
        """Return all forms of a concept, one per cell of a grid that is the same in all languages.

        Cell i of two languages' paradigms translate each other; cells that a language does not
        tell apart hold the same form.
        """
        if concept.group == "nouns":
            return [
                self.noun(concept, number, case, definite)
                for number in (1, 2)
                for case in ("nom", "acc", "gen", "obl")
                for definite in (False, True)
            ]
        if concept.group == "adjectives":
            return [
                self.adjective(concept, number, case)
                for number in (1, 2)
                for case in ("nom", "acc", "gen", "obl")
            ]
        if concept.group in ("names", "pronouns"):
            return [self.bare(concept, case) for case in ("nom", "acc", "gen", "obl")]
        if concept.group in ("verbs", "auxiliaries"):
            forms = [self.finite(concept, p, past) for past in (False, True) for p in range(6)]
            return [self.infinitive(concept), *forms]
        return [self.stems[concept.key]]
