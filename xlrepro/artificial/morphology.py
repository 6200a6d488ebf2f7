"""Word forms: stems with the suffixes that a typology asks for."""

from xlrepro.artificial.lexicon import Lexicon
from xlrepro.artificial.ontology import Concept
from xlrepro.artificial.typology import Typology

PERSONS = ("1SG", "2SG", "3SG", "1PL", "2PL", "3PL")
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
        # What a form of a concept marks: ("dog.nouns", "fafuk") -> ("PL", "ACC"), for glosses.
        self._marks: dict[tuple[str, str], tuple[str, ...]] = {}

    def marks(self, key: str, form: str) -> tuple[str, ...]:
        """Return the categories that a form built earlier shows, such as ``("PL", "ACC")``."""
        return self._marks.get((key, form), ())

    def _inflected(self, concept: Concept, *endings: tuple[str, str]) -> str:
        """Return a stem with its suffixes, given as pairs of mark and written suffix."""
        shown = [(mark, suffix) for mark, suffix in endings if suffix]
        form = self.stems[concept.key] + "".join(suffix for _, suffix in shown)
        self._marks.setdefault((concept.key, form), tuple(mark for mark, _ in shown))
        return form

    def noun(
        self, concept: Concept, number: int = 1, case: str = "nom", definite: bool = False
    ) -> str:
        """Return a noun's form; ``definite`` only shows where the article is a suffix."""
        features = (concept.key, number, case, definite)
        form = self._forms.get(features)
        if form is None:
            shows_article = definite and self.typology.article_suffix
            form = self._forms[features] = self._inflected(
                concept,
                ("PL", self._plural if number == 2 else ""),
                ("DEF", self.suffixes["definite"] if shows_article else ""),
                (case.upper(), self.suffixes[case] if case in self.cases else ""),
            )
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
            agreement = self.typology.agreement
            agrees = agreement == "full" or (agreement == "third" and person == 2 and not past)
            form = self._forms[features] = self._inflected(
                concept,
                ("PST", self._past if past else ""),
                (PERSONS[person], self.suffixes[f"person{person}"] if agrees else ""),
            )
        return form

    def infinitive(self, concept: Concept) -> str:
        """Return a verb's infinitive: the stem, with a suffix where finite forms have one too."""
        features = (concept.key, "infinitive")
        form = self._forms.get(features)
        if form is None:
            suffix = self.suffixes["infinitive"] if self.typology.agreement == "full" else ""
            form = self._forms[features] = self._inflected(concept, ("INF", suffix))
        return form

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
