"""The page that the book makes of an executed notebook: question, answer, and the code folded."""

import json
import re

import pytest

from xlrepro.book.pages.code_links import _NAMED, linked, place_of, source_pages
from xlrepro.book.pages.experiments import shown_notebook
from xlrepro.paths import project_root

KEY = "word_order/table2"
NOTEBOOKS = sorted((project_root() / "notebooks").glob("*/*.ipynb"))
OWN = project_root() / "notebooks" / f"{KEY}.ipynb"


def shown(path=OWN, key=KEY):
    return json.loads(shown_notebook(path, key))["cells"]


def text(cell):
    return "".join(cell["source"])


def test_the_answer_is_the_first_section_and_what_runs_the_page_comes_before_provenance():
    heads = re.findall(r"^## (.+)$", "\n".join(map(text, shown())), re.MULTILINE)
    assert heads == [
        "Answer", "Compare", "Figures", "Claims", "Method in brief", "Deviations", "Run",
        "Provenance",
    ]  # fmt: skip


def test_no_cell_is_lost_and_the_parameters_stand_under_run():
    notebook = json.loads(OWN.read_text("utf-8"))
    cells = shown()
    assert len(cells) == len(notebook["cells"]) + 1
    run = next(i for i, cell in enumerate(cells) if text(cell).startswith("## Run"))
    assert "parameters" in cells[run + 1]["metadata"]["tags"]
    assert [word in text(cells[run + 2]) for word in ("open_page(",)] == [True]


def test_all_code_folds():
    tags = [set(c["metadata"]["tags"]) for c in shown() if c["cell_type"] == "code"]
    assert [t for t in tags if "hide-input" not in t] == []


def test_below_the_title_are_the_command_and_a_link_to_every_section():
    title, top, *_ = shown()
    assert text(title).startswith("# ")
    assert '<code class="xl-command">xlrepro run word_order/table2 --profile open<' in text(top)
    assert re.findall(r'href="#([^"]+)"', text(top))[:2] == ["answer", "compare"]


def test_a_name_of_code_leads_to_its_line():
    place = place_of("feed_forward.FeedForward", "word_order") or place_of("crf.CRF", "word_order")
    assert place is not None
    file, line = place
    assert "class" in (project_root() / file).read_text("utf-8").splitlines()[line - 1]


def test_names_are_looked_for_in_the_paper_first():
    file, line = place_of("model.py", "man_moe")
    assert (file, line) == ("xlrepro/papers/man_moe/model.py", 1)


def test_what_is_no_code_stays_as_it_is():
    words = "the mean, `avg`, at `open`; ``a`b``"
    assert linked(words, "word_order") == words


def test_the_source_that_a_page_links_to_is_there_line_by_line():
    page = linked("see `xlrepro/nn/crf.py`", "word_order")
    href = re.search(r'href="\.\./([^#"]+)#L1"', page)[1]
    html = source_pages([page])[href]
    lines = (project_root() / "xlrepro/nn/crf.py").read_text("utf-8").splitlines()
    assert html.count("<span id=") == len(lines)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_file_named_in_a_method_exists(path):
    """A name that moved leads nowhere: the method must follow the code."""
    told = "".join(text(c) for c in shown(path, f"{path.parent.name}/{path.stem}"))
    plain = [name for name in _NAMED.findall(told) if name.endswith(".py")]
    assert plain == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_numbered_detail_leads_to_its_line_of_code(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    (method,) = (text(c) for c in cells if text(c).startswith("## Method in brief"))
    details = re.split(r"\n(?=\d+\. )", method)[1:]
    assert details
    assert [d for d in details if "xl-code" not in linked(d, path.parent.name)] == []


def test_a_preset_can_be_named_too():
    file = "xlrepro/papers/word_order/presets/spans.yaml"
    assert place_of("presets/spans.yaml", "word_order") == (file, 1)
    page = linked("see `presets/spans.yaml`", "word_order")
    assert list(source_pages([page])) == [f"_static/source/{file}.html"]
