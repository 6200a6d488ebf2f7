"""Table 6 beside the presets, and the arithmetic that Table 4's page states."""

import json

import pytest

from xlrepro.evidence.reported import load_reported
from xlrepro.papers.man_moe.figures.printed_settings import SETTINGS, TASKS, hyperparameters_table
from xlrepro.papers.man_moe.settings import presets, transfer_settings
from xlrepro.paths import project_root

ROWS = {(r[0].text, r[1].text): r[2:] for r in hyperparameters_table().rows}


def test_every_printed_setting_has_its_row():
    printed = load_reported().cells("man_moe/table6", context=True)
    assert len(printed) == 9
    assert [ROWS[c.name, c.column][0].text for c in printed] == [c.printed for c in printed]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", SETTINGS)
def test_ours_are_those_of_the_presets(task, name):
    own = presets(TASKS[task])
    wanted = [transfer_settings(TASKS[task], profile, {}, {}) for profile in own]
    shown = [entry.sort for entry in ROWS[task, name][1:]]
    assert shown[: len(own)] == [getattr(settings, SETTINGS[name]) for settings in wanted]
    assert shown[len(own) :] == [None] * (3 - len(own))


def test_a_value_that_is_not_the_printed_one_is_marked():
    marked = {
        (*row, place)
        for row, entries in ROWS.items()
        for place, e in enumerate(entries)
        if e.detail
    }
    assert marked == {("Slot Filling", "k", 1)}  # at smoke, where the paper has 5


def test_table_4_states_the_iterations_of_its_preset():
    values = presets("ner")["open"]
    iterations = values["epochs"] * values["train_sentences"] // values["batch_size"]
    path = project_root() / "notebooks" / "man_moe" / "table4.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells)
    assert f"a model has {iterations} iterations" in text
    assert f"{values['epochs']} epochs, so {values['epochs']} looks at dev" in text
