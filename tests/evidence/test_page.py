"""What a notebook's page hands on to its figures and tables."""

from types import SimpleNamespace

from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.experiments import experiment
from xlrepro.notebook import Page

KEY = "word_order/figure3"


def page_of(numbers, records=()):
    """Return a page of Figure 3 with made-up numbers and records."""
    page = Page(experiment(KEY), "smoke", (), ())
    page.view = View(KEY, "open", numbers)
    page.profiles = ["open", "smoke"]
    page.records = lambda profile: [r for r in records if r.profile == profile]
    return page


def test_complete_columns_are_those_of_every_system_in_the_order_of_the_experiment(numbers):
    filled = [("TRS", "th/1"), ("ORT", "th/1"), ("ORT", "es/10"), ("TRS", "es/10"), ("ORT", "es/3")]
    found = numbers({(f"word:{s}", c): {0: 1.0} for s, c in filled}, KEY)
    assert page_of(found).complete_columns() == ["es/10", "th/1"]


def test_records_are_drawn_of_the_most_telling_profile():
    records = [SimpleNamespace(profile=profile) for profile in ("smoke", "open")]
    page = page_of(ReproducedNumbers([]), records)
    assert page.draw_records(lambda found, profile: (found, profile)) == ([records[1]], "open")


def test_the_table_and_the_figures_know_what_was_not_run(numbers):
    page = page_of(numbers({("word:ORT", c): {0: 1.0} for c in ("th/1", "es/1")}, KEY))
    assert "open: 2 systems x 20 columns, 2 of 40 cells run" in repr(page.compare())
    assert [row.label for row in page.scores().rows] == ["es/1", "th/1"]
