"""Table 6: the settings that the paper prints for each task, beside those of our presets."""

from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.tables.printed import own_entry, printed_entry
from xlrepro.evidence.tables.table import Entry, Table, headings
from xlrepro.papers.man_moe.settings import presets, transfer_settings

EXPERIMENT = "man_moe/table6"
# Printed name of a task -> the presets that stand for it.
TASKS = {"Slot Filling": "slots", "CoNLL NER": "ner", "Amazon": "reviews"}
# Name of a row -> the setting. The paper's text gives the last two, not its table.
SETTINGS = {
    "lambda_1": "lambda1",
    "lambda_2": "lambda2",
    "k": "discriminator_steps",
    "batch size": "batch_size",
    "learning rate": "learning_rate",
}


def hyperparameters_table() -> Table:
    """Render the printed settings and ours: a row per task and setting, a column per profile."""
    cells = load_reported().cells(EXPERIMENT, context=True)
    printed = {(cell.name, cell.column): cell for cell in cells}
    profiles = list(dict.fromkeys(p for preset in TASKS.values() for p in presets(preset)))
    rows = []
    for task, preset in TASKS.items():
        ours = {p: transfer_settings(preset, p, {}, {}) for p in presets(preset)}
        for name, setting in SETTINGS.items():
            theirs = [printed[task, name]] if (task, name) in printed else []
            paper = printed_entry(theirs, "in the paper's text, not in its table")
            entries = (
                own_entry(
                    getattr(ours.get(p), setting, None),
                    theirs,
                    "this task does not run at this profile",
                )
                for p in profiles
            )
            rows.append((Entry(task), Entry(name), paper, *entries))
    names = headings("task", "setting", "printed", *profiles, numeric=("printed", *profiles))
    caption = (
        "Settings of MAN-MoE as printed in Table 6, and those of our presets. "
        "The paper gives batch size and learning rate in its text, not in that table."
    )
    return Table(caption, names, tuple(rows), interactive=False)
