"""Every notebook has the common anatomy and binds to the experiment it is named for."""

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.experiments import all_experiments
from xlrepro.pages.page import open_page
from xlrepro.paths import data_dir

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
WALKTHROUGHS = sorted(FOLDER.glob("*/walkthrough.ipynb"))
PATHS = sorted({*FOLDER.glob("*/*.ipynb")} - {*WALKTHROUGHS})
SECTIONS = ["Run", "Answer", "Compare", "Figures", "Claims", "Method in brief", "Deviations",
            "Provenance"]  # fmt: skip
# What stands first in the code of a section, the same on every page.
CALLS = {
    "Run": ("open_page(", "page.run()"),
    "Answer": ("page.answer(",),
    "Compare": ("page.compare()",),
    "Claims": ("page.claims()",),
    "Deviations": ("page.deviations()",),
    "Provenance": ("page.provenance()",),
}
MOST_STATEMENTS = 5
MOST_BYTES = 750_000


def cells(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if kind in (None, cell["cell_type"])]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def parameters(path: Path) -> dict[str, Any]:
    """Return the names and default values of the one cell tagged ``parameters``."""
    tagged = [c for c in cells(path, "code") if "parameters" in c["metadata"].get("tags", [])]
    assert len(tagged) == 1
    assigned = [node for node in ast.parse(source(tagged[0])).body if isinstance(node, ast.Assign)]
    return {node.targets[0].id: ast.literal_eval(node.value) for node in assigned}


def name(path: Path) -> str:
    return str(path.relative_to(FOLDER).with_suffix(""))


def test_every_experiment_has_its_notebook_and_every_notebook_its_experiment():
    shown = {key for key, entry in load_catalog().experiments.items() if not entry.shown_on}
    assert {name(path) for path in PATHS} == shown <= set(all_experiments())
    for key in load_catalog().experiments.keys() - shown:
        page = data_dir().parent / f"book/{load_catalog().experiment(key).shown_on}.md"
        assert f'{{{{ comparison("{key}"' in page.read_text("utf-8")


def sections(path: Path) -> dict[str, str]:
    """Return the code of each section."""
    found: dict[str, list[str]] = {}
    for cell in cells(path)[2:]:
        head = re.match(r"## (.+)", source(cell)) if cell["cell_type"] == "markdown" else None
        current = found.setdefault(head[1], []) if head else list(found.values())[-1]
        current += [source(cell)] * (cell["cell_type"] == "code")
    return {section: "\n".join(code) for section, code in found.items()}


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_sections_are_the_common_ones_with_their_calls_and_little_code(path):
    code = sections(path)
    assert list(code) == SECTIONS
    missing = [call for s, calls in CALLS.items() for call in calls if call not in code[s]]
    assert missing == []
    assert code["Method in brief"] == ""
    body = [c for c in cells(path, "code") if "parameters" not in c["metadata"].get("tags", [])]
    trees = [ast.parse(source(cell)) for cell in body]
    assert max(sum(isinstance(n, ast.stmt) for n in ast.walk(t)) for t in trees) <= MOST_STATEMENTS


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_it_opens_the_experiment_it_is_named_for_with_the_common_parameters(path):
    call = next(
        node
        for cell in cells(path, "code")
        for node in ast.walk(ast.parse(source(cell)))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open_page"
    )
    experiment, *positional = call.args
    assert ast.literal_eval(experiment) == name(path)
    names = [node.id for node in positional]
    inspect.signature(open_page).bind(name(path), *names)
    assert (call.keywords, names) == ([], list(parameters(path)))
    assert names == list(parameters(PATHS[0]))
    assert parameters(path)["profile"] == "smoke"


@pytest.mark.parametrize("path", PATHS, ids=name)
def test_its_trials_are_those_of_the_golden_numbers(path):
    """So that no smoke trial runs for the notebook alone."""
    experiment, given = all_experiments()[name(path)], parameters(path)
    own = experiment.trials("smoke", given["systems"], given["seeds"])
    assert {trial.key for trial in own} <= {trial.key for trial in experiment.trials("smoke")}


@pytest.mark.parametrize("path", [*PATHS, *WALKTHROUGHS], ids=name)
def test_outputs_of_smoke_are_committed_small_without_error_and_without_a_trace_of_the_run(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    keys = set(notebook["metadata"]).union(*(cell["metadata"] for cell in notebook["cells"]))
    assert keys & {"papermill", "execution", "ExecuteTime", "widgets"} == set()
    outputs = [output for cell in cells(path, "code") for output in cell["outputs"]]
    assert outputs, "`make notebooks` writes the outputs; commit them"
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("path", WALKTHROUGHS, ids=name)
def test_a_walkthrough_uses_all_its_parameters_and_shows_a_model_a_picture_and_what_to_try(path):
    code = [source(cell) for cell in cells(path, "code")]
    read = {n.id for text in code[1:] for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    assert set(parameters(path)) <= read
    assert sum("(nn.Module):" in text for text in code) == 1
    assert "## Try" in "\n".join(source(cell) for cell in cells(path, "markdown"))
    shown = [output for cell in cells(path, "code") for output in cell["outputs"]]
    assert any("text/html" in output.get("data", {}) for output in shown)
