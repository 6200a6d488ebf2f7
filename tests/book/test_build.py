"""The book is not made again where nothing that it shows has changed."""

import pytest

from xlrepro.book import assemble, build
from xlrepro.book.build import BookError, current_page, everything, html_dir, mark_current
from xlrepro.cli.book import _render
from xlrepro.errors import SettingsError


@pytest.fixture
def rendered(project, write_notebook):
    """A project whose rendered book shows what there is."""
    write_notebook("fake/one", "print(1)")
    (project / "book").mkdir()
    (project / "book" / "index.md").write_text("# Book", encoding="utf-8")
    html_dir().mkdir(parents=True)
    (html_dir() / "index.html").write_text("<html>", encoding="utf-8")
    mark_current(everything("smoke"))
    return project


def test_a_book_that_shows_what_there_is_is_current(rendered):
    assert current_page(everything("smoke")) == html_dir() / "index.html"


@pytest.mark.parametrize(
    "changed",
    [
        "book/index.md",
        "notebooks/fake/one.ipynb",
        "data/catalog.yaml",
        "build/records/aa.json",
        "build/notebooks/smoke/fake/one.ipynb",
    ],
)
def test_whatever_it_is_made_from_makes_it_out_of_date(rendered, changed):
    path = rendered / changed
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("changed", encoding="utf-8")
    assert current_page(everything("smoke")) is None


def test_another_profile_or_a_page_that_is_gone_is_not_current(rendered):
    assert current_page(everything("open")) is None
    (html_dir() / "index.html").unlink()
    assert current_page(everything("smoke")) is None


def test_a_book_rendered_over_it_or_half_of_one_is_not_current(rendered, monkeypatch):
    def broken(source):
        raise BookError("half of it is written")

    monkeypatch.setattr(assemble, "assemble", lambda profile: rendered)
    monkeypatch.setattr(build, "render", broken)
    with pytest.raises(BookError):
        _render("smoke", complete=True)
    assert current_page(everything("smoke")) is None


def test_a_build_folder_that_cannot_be_written_is_one_line(project):
    (project / "build").mkdir()
    (project / "build" / "book").write_text("in the way", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"build/book cannot be written \(.*\): set XLREPRO"):
        _render("smoke", complete=False)
