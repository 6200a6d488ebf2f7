"""Findings pages: a sentence whose direction no longer agrees with its numbers is not printed."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from xlrepro.book import assemble
from xlrepro.book.findings import page
from xlrepro.book.findings.names import Findings
from xlrepro.book.findings.numbers import Gap, Number, Sentences
from xlrepro.book.templating import render
from xlrepro.book.verdicts import Evidence
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.pages.tables import in_words
from xlrepro.paths import project_root

GAP = '<% set ort = gap("table2", "word:ORT", "word:TRS", "avg") %>'
WRITTEN = [paper for paper in load_catalog().papers if page.exists(paper)]
NOTHING = Evidence(load_catalog(), load_reported(), ())  # no record at all
# A number as it is measured: with a decimal point, or before a unit.
TYPED = re.compile(r"\d+\.\d+|\d+ (?:points|seeds|trials|%|F1|BLEU)")


def values(*numbers):
    return dict(enumerate(numbers))


@pytest.fixture
def fill(numbers):
    """Return a page's text with its marks filled in from an ORT and a TRS of these values."""

    def filled(text, ort=(), trs=()):
        cells = {("word:ORT", "avg"): values(*ort), ("word:TRS", "avg"): values(*trs)}
        known = {place: by_seed for place, by_seed in cells.items() if by_seed}
        found = Evidence(load_catalog(), load_reported(), ())
        found.__dict__["numbers"] = numbers(known) if known else ReproducedNumbers([])
        return render(text, Findings("word_order", "findings.md", found).names, "findings.md")

    return filled


AHEAD, BEHIND, MIXED = ((5, 6, 7), (1, 2, 3)), ((1, 2, 3), (5, 6, 7)), ((1, 6, 2), (2, 4, 3))
CHOICE = (
    f"{GAP}<% says ort.above %>ahead: << ort >><% orsays ort.below %>behind: << ort >>"
    "<% orsays ort.undecided %>open: << ort.short >><% endsays %>"
)


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (AHEAD, "ahead: +4.0 points (+4.0 to +4.0, n = 3)"),
        (BEHIND, "behind: −4.0 points (−4.0 to −4.0, n = 3)"),
        (MIXED, "open: 0.0"),
        (((5,), (1,)), "open: +4.0"),
    ],
)
def test_the_wording_that_is_true_is_shown(fill, cells, shown):
    assert fill(CHOICE, *cells) == shown


@pytest.mark.parametrize(
    ("unit", "ends", "shown"),
    [
        ("points", (-0.9, 0.003), "−0.449 points (−0.900 to +0.003, n = 3)"),
        ("fraction", (-0.0370, -0.0019), "−0.019 fraction (−0.037 to −0.002, n = 3)"),
        ("points", (-0.5, 0.00001), "−0.2500 points (−0.5000 to 0.0000, n = 3)"),
    ],
)
def test_a_bound_that_is_not_zero_does_not_read_as_zero(unit, ends, shown):
    sentences = Sentences("findings.md", depth=1)
    found = Gap(sentences, "ORT − TRS", unit, sum(ends) / 2, *ends, n=3)
    assert not found.missing
    assert str(found) == shown


def test_a_page_with_a_sentence_that_is_not_true_is_refused_with_its_line(fill):
    text = f"# Title\n\n{GAP}\n<% says ort.above %>\nORT is ahead: << ort >>.\n<% endsays %>\n"
    assert "ORT is ahead: +4.0" in fill(text, *AHEAD)
    with pytest.raises(SettingsError, match=r"findings.md:4: no wording of this sentence is true"):
        fill(text, *BEHIND)


def test_a_sentence_without_a_direction_may_stand_for_all_others(fill):
    text = f"{GAP}<% says ort.above %>yes<% otherwise %>ORT − TRS: << ort >><% endsays %>"
    assert fill(text, *BEHIND) == "ORT − TRS: −4.0 points (−4.0 to −4.0, n = 3)"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"{GAP}ORT is ahead: << ort >>", "must stand within `says`"),
        (f"{GAP}<% says true %><< ort >><% endsays %>", "no condition asks which way"),
        ('<< mean("table2", "word:ORT", "avg") >>', "must stand within `says`"),
        ('<% says verdict("O999") %><% endsays %>', "unknown claim 'O999'"),
    ],
)
def test_a_number_needs_a_sentence_whose_condition_asks_for_it(fill, text, complaint):
    with pytest.raises(SettingsError, match=complaint):
        fill(text, *AHEAD)


def test_what_was_not_run_has_a_direction_of_its_own_and_no_number(fill):
    text = f"{GAP}<% says ort.missing %>not run; the paper: << ort.printed >><% endsays %>"
    assert fill(text) == "not run; the paper: +9.55"
    with pytest.raises(SettingsError, match="was not run"):
        fill(f"{GAP}<% says ort.missing %><< ort >><% endsays %>")


def test_predicates_and_numbers_of_the_page_s_own_are_in_the_language_of_the_claims(fill):
    predicate = 'value("table2", "word:ORT", "avg") > value("table2", "word:TRS", "avg")'
    text = f"<< judged('{predicate}') >>, << verdict('O01w') >>, << verdict('O01w', 'reported') >>"
    assert fill(text, *AHEAD) == "holds, holds, holds"
    assert fill(text, *MIXED) == "undecided, undecided, holds"
    number = f"<% says true %><< number('{predicate.replace('>', '-')}') >><% endsays %>"
    assert fill(number, *AHEAD) == "4.0"


def test_the_ends_of_a_system_are_its_least_and_its_largest_seed(fill):
    text = '<% set least, most = ends("table2", "word:ORT", "avg") %>'
    shown = (
        f"{text}<% says not most.missing %><< least >> to << most >><% otherwise %>-<% endsays %>"
    )
    assert fill(shown, *MIXED) == "1.0 to 6.0"
    assert fill(shown) == "-"


def test_what_records_tell_beside_a_cell_is_their_mean_over_its_seeds(numbers):
    losses = {"SE2": [4.0, 2], "SE3": 5.0}
    cells = numbers({("wsd:ELMo", "SE2"): values(0.5, 0.6)}, "sense_alignment/table2")
    records = [
        SimpleNamespace(key=k, details={"model": {**losses, "SE3": n}})
        for n, k in enumerate(next(iter(cells)).keys)
    ]
    found = Evidence(load_catalog(), load_reported(), tuple(records))
    found.__dict__["numbers"] = cells
    names = Findings("sense_alignment", "findings.md", found)
    told = [
        names.told("table2", "wsd:ELMo", "SE2", "model", name) for name in ("SE2", "SE3", "SE7")
    ]
    assert [t.value for t in told[:2]] == [2.0, 0.5]
    assert told[2].missing
    assert names.told("table2", "wsd:SaELMo", "SE2", "model", "SE2").missing


def test_counts_are_words_up_to_ten():
    assert [in_words(n) for n in (0, 3, 10, 11)] == ["no", "three", "ten", "11"]


@pytest.mark.parametrize("paper", WRITTEN)
def test_every_sentence_of_a_paper_s_findings_is_true_of_today_s_numbers(paper):
    assert page.markdown(paper).startswith("# ")
    source = (project_root() / "book" / paper / "findings.md").read_text(encoding="utf-8")
    short = source.partition(f"{page.SHORT}\n")[2].partition("\n## ")[0]
    assert 1 <= len(page.in_short(paper)) == len(re.findall("^- ", short, flags=re.M)) <= 3


@pytest.mark.parametrize("paper", WRITTEN)
def test_a_page_of_which_nothing_was_run_is_not_refused(paper):
    assert written(Findings(paper, "findings.md", NOTHING)).startswith("# ")


def written(names):
    text = (page.project_root() / "book" / names.paper / page.NAME).read_text(encoding="utf-8")
    return render(text, names.names, "findings.md")


class Without(Findings):
    """The names of a page whose numbers are made up; those at some places in it were not run.

    Args:
        paper: whose page.
        gap: every difference; its interval is a point wide.
        value: every other number.
        missing: of the numbers not run, the place in the order in which the page asks for them.
    """

    def __init__(self, paper, gap, value, missing=-1):
        super().__init__(paper, "findings.md", NOTHING)
        self.made_up = {"mean": gap, "low": gap - 0.5, "high": gap + 0.5, "n": 3}
        self.value, self.missing, self.asked = value, missing, 0

    def _is_missing(self):
        self.asked += 1
        return self.asked - 1 == self.missing

    def gap(self, *args, **kwargs):
        found = super().gap(*args, **kwargs)
        return found if self._is_missing() else replace(found, **self.made_up)

    def mean(self, *args, **kwargs):
        found = super().mean(*args, **kwargs)
        return found if self._is_missing() else replace(found, value=self.value)

    def told(self, *args, **kwargs):
        found = super().told(*args, **kwargs)
        return found if self._is_missing() else replace(found, value=self.value)

    def number(self, expression, at="open", decimals=1):
        if at == "reported":
            return super().number(expression, at, decimals)
        value = math.nan if self._is_missing() else self.value
        return Number(self.sentences, value, decimals, expression)


@pytest.mark.parametrize(("gap", "value"), [(1.0, 100.0), (-1.0, 0.5), (0.0, 50.0)])
@pytest.mark.parametrize("paper", WRITTEN)
def test_a_page_is_not_refused_whichever_of_its_numbers_was_not_run(paper, gap, value):
    names = Without(paper, gap, value)
    written(names)
    for place in range(names.asked):
        written(Without(paper, gap, value, place))


class ByColumn(Without):
    """The same, with differences of their own in the columns whose name begins with ``near``."""

    def __init__(self, paper, near, here, elsewhere):
        super().__init__(paper, elsewhere, 50.0)
        self.near, self.here = near, {"mean": here, "low": here - 0.5, "high": here + 0.5}

    def gap(self, table, first, second, column, **kwargs):
        found = super().gap(table, first, second, column, **kwargs)
        return replace(found, **self.here) if column.startswith(self.near) else found


@pytest.mark.parametrize(
    ("near", "here", "elsewhere", "said"),
    [
        ("-", 1.0, 1.0, ("**Slot filling did come back.**", "**Sentiment did come back.**")),
        (
            "es/",
            1.0,
            0.0,
            ("**Slot filling came back in part**", "is shown to beat BWE in no language"),
        ),
        ("fr/", 1.0, -1.0, ("is shown ahead of neither", "**Sentiment came back in part.**")),
    ],
)
def test_what_does_come_back_is_not_told_as_what_did_not(near, here, elsewhere, said):
    text = written(ByColumn("man_moe", near, here, elsewhere))
    assert [words in text for words in said] == [True, True]


@pytest.mark.parametrize("paper", WRITTEN)
def test_no_measured_number_of_a_findings_page_is_typed(paper):
    text = (page.project_root() / "book" / paper / page.NAME).read_text(encoding="utf-8")
    prose = re.sub(r"<<.*?>>|<%.*?%>", "", text, flags=re.S)
    assert TYPED.findall(prose) == []


def test_a_page_without_a_short_list_is_refused(monkeypatch):
    monkeypatch.setattr(page, "markdown", lambda paper: "# Title\n\n## In short\n\nNothing.\n")
    with pytest.raises(DataError, match="begin with '## In short'"):
        page.in_short("word_order")


def test_the_book_holds_the_page_filled_in_and_not_as_it_is_written(monkeypatch):
    monkeypatch.setattr(assemble, "render_file", lambda path, names: "")
    assert [name for name in assemble._prose({}) if name.endswith(page.NAME)] == []
