"""The book speaks the field's language: none of the private words, no crowded sentences."""

import json
import re
import subprocess
from functools import lru_cache

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import load_claims
from xlrepro.evidence.deviations import load_deviations, load_errata
from xlrepro.pages import book, findings
from xlrepro.paths import project_root

FORBIDDEN = (
    "told from", "told apart", "tell apart", "not shown", "undecided", "come back", "comes back",
    "came back", "printed", "piece", "pieces", "a guess", "rows of ours", "begun from",
    "begin from", "weighs most", "weighs little", "learned beside", "stands in for",
    "stand in for", "stand-in", "dealt out", "decidable from", "costs nothing",
)  # fmt: skip
MOST_WORDS, MOST_NUMBERS = 30, 3
PAPERS = tuple(load_catalog().papers)
NOTEBOOKS = book.notebooks.find_notebooks()
BOOK = project_root() / "book"
# The changelog quotes old names; bibliography and data sets have titles of others.
PROSE = {str(p.relative_to(BOOK)) for p in BOOK.rglob("*.md")} - {"changelog.md"}


def plain(text: str) -> str:
    """Return Markdown without code, equations, links' targets, HTML and the brackets of a CI."""
    text = re.sub(r"^---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<pre>.*?</pre>|<code>.*?</code>", " ", text, flags=re.S)
    text = re.sub(r"<svg.*?</svg>|<i>Effect.*?</i>", " ", text, flags=re.S)
    text = re.sub(r"\{doc\}`([^`<]*)<[^`]*>`", r"\1", text)
    text = re.sub(r"<[^>]+>|`[^`]*`|\$[^$]*\$|\]\([^)]*\)|\{cite[^`]*`[^`]*`", " ", text)
    return text.replace("&nbsp;", " ")


def found(text: str) -> list[str]:
    return [w for w in FORBIDDEN if re.search(rf"\b{re.escape(w)}\b", plain(text), re.I)]


def markdown_of(key: str) -> str:
    """Return the Markdown of a notebook."""
    cells = json.loads(NOTEBOOKS[key].read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


@pytest.mark.parametrize("name", [*sorted(PROSE), *NOTEBOOKS])
def test_no_page_has_private_words(name):
    if name.endswith("/findings.md"):
        text = findings.markdown(name.partition("/")[0])
    elif name in NOTEBOOKS:  # an emphasised name is a column's
        text = re.sub(r"\*[^*\n]+\*", "", markdown_of(name))
    else:
        text = book.filled_in(BOOK / name)
    assert found(text) == []


def sentences(text: str) -> list[str]:
    body = "\n".join(
        line for line in plain(text).splitlines() if not line.lstrip().startswith(("|", "#", "*"))
    )
    body = re.sub(r"\([^()]*CI[^()]*\)", "", body)  # a number's interval goes with it
    parts = re.split(r"(?<=[.:;])\s+(?=[A-Z])|\n\s*\n|\n- ", body)
    return [" ".join(part.split()) for part in parts if part.strip()]


@pytest.mark.parametrize("paper", PAPERS)
def test_sentences_of_findings_are_short_and_have_few_numbers(paper):
    text = findings.markdown(paper).partition("## In short")[2].partition("## Cost")[0]
    told = sentences(text)
    assert [s for s in told if len(s.split()) > MOST_WORDS] == []
    assert [s for s in told if numbers(s) > MOST_NUMBERS] == []


def numbers(sentence: str) -> int:
    """Count the numbers of a sentence: a range is one, and the name of a table is none."""
    names = r"\b(?:Tables?|Figures?) \d(?:(?:, | and | to )\d)*|et al\. \(?\d{4}"
    said = re.sub(names, " ", sentence)
    return len(re.findall(r"(?<![\w-])[−+]?\d[\d,./]*(?: to [−+]?\d[\d,.]*)?", said))


def said_in(value) -> list[str]:
    """Return all texts in a model's content, names without a blank left out."""
    if isinstance(value, dict | list | tuple):
        inner = value.values() if isinstance(value, dict) else value
        return [text for each in inner for text in said_in(each)]
    return [value] if isinstance(value, str) and " " in value else []


DEVIATIONS = {d.id: [d.title, d.paper, d.here, d.why, d.effect] for d in load_deviations()}
SAID = {
    **DEVIATIONS,
    **{
        c.id: said_in([c.text, c.cells, c.rule])
        for p in load_catalog().papers
        for c in load_claims(p)
    },
    **{e.id: [e.where, e.what] for e in load_errata()},
    "catalog": said_in(load_catalog().model_dump()),
}


def test_deviations_claims_errata_and_catalog_have_short_sentences_without_private_words():
    told = [(key, s) for key, texts in SAID.items() for text in texts for s in sentences(text)]
    assert [each for each in told if found(each[1])] == []
    assert [each for each in told if len(each[1].split()) > MOST_WORDS] == []
    # A claim and an erratum quote what the paper prints
    assert [s for s in told if s[0] in DEVIATIONS and numbers(s[1]) > MOST_NUMBERS] == []


@lru_cache
def code() -> tuple[list[str], str]:
    """Return the names of all tracked files, and the text of the library."""
    listed = subprocess.run(["git", "ls-files"], cwd=project_root(), text=True, check=True,
                            capture_output=True).stdout.split()  # fmt: skip
    library = [n for n in listed if n.startswith("xlrepro/") and n.endswith((".py", ".yaml"))]
    return listed, "\n".join((project_root() / n).read_text(encoding="utf-8") for n in library)


@pytest.mark.parametrize("key", NOTEBOOKS)
def test_the_code_that_a_method_in_brief_points_to_is_there(key):
    files, library = code()
    brackets = " ".join(re.findall(r"\(([^()]*)\)", markdown_of(key)))
    for named in re.findall(r"`([\w./]+)`", brackets):
        if named.endswith((".py", ".yaml")):
            assert [n for n in files if f"/{n}".endswith(f"/{named}")], named
        elif "/" not in named:
            assert re.search(rf"\b{re.escape(named.split('.')[-1])}\b", library), named
