"""Runs trials with the code that PYTHONPATH names: a script for today's tree and for earlier ones.

``python -P driver.py REQUEST FOLDER``. The request is JSON, a list of trials. Into the folder goes
a file per trial, ``<number>.json``, as soon as it has run: its cells, details and loaded modules,
or the error. The script uses of xlrepro only what stands in every version of it that has published
records.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

# Until records named tasks, a trial named the function: where it lay in the commits before fc2756b
# that published records name.
MAN_MOE, WORD_ORDER = "xlrepro.papers.man_moe", "xlrepro.papers.word_order"
OLD_RUNNERS = {
    "man_moe/transfer": f"{MAN_MOE}.transfer:run",
    "man_moe/sweep": f"{MAN_MOE}.sweep:run",
    "man_moe/statistics": f"{MAN_MOE}.statistics:run",
    "man_moe/mappings": f"{MAN_MOE}.mappings:run",
    "man_moe/mappings_control": f"{MAN_MOE}.mappings_control:run",
    "word_order/pos": f"{WORD_ORDER}.pos_tagging:run",
    "word_order/spans": f"{WORD_ORDER}.span_labelling:run",
    "word_order/pretraining": f"{WORD_ORDER}.mbert_pretraining:run",
    "word_order/nlu": f"{WORD_ORDER}.nlu_runner:run",
    "word_order/alignment": f"{WORD_ORDER}.alignment_quality:run",
    "word_order/alignment_distances": f"{WORD_ORDER}.alignment_quality:distances",
    "word_order/distances": f"{WORD_ORDER}.distances:run",
    "word_order/vector_quality": f"{WORD_ORDER}.vector_quality:run",
}


def run(fields: dict[str, Any], device: str) -> dict[str, Any]:
    """Run one trial on one thread.

    Args:
        fields: the arguments of ``Trial.create``.
        device: ``"cpu"`` or ``"cuda"``.
    """
    from threadpoolctl import threadpool_limits

    from xlrepro.trials import machine
    from xlrepro.trials import trial as of

    if "runner" in of.Trial.__dataclass_fields__:
        runner = OLD_RUNNERS[fields.pop("task")]
        module, _, name = runner.partition(":")
        function = getattr(importlib.import_module(module), name)
        trial = of.Trial.create(**fields, runner=runner)  # type: ignore[call-arg]
    else:
        from xlrepro.trials.tasks import load_task

        function, trial = load_task(fields["task"]), of.Trial.create(**fields)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    with threadpool_limits(1):
        result = function(trial, of.TrialContext(device))
    class_of = getattr(machine, "numerical_class", None)  # earlier code knows no such thing
    return {
        "cells": [[c.system, c.column, float(c.value), c.metric, c.unit] for c in result.cells],
        "details": result.details,
        "modules": sorted(sys.modules),
        "numerical_class": class_of(device) if class_of else None,
    }


def main(request: str, folder: str) -> None:
    """Run all trials of a request; one that fails does not stop the others."""
    wanted = json.loads(Path(request).read_text("utf-8"))
    for number, fields in enumerate(wanted["trials"]):
        try:
            answer = json.dumps(run(fields, wanted["device"]), default=lambda value: value.tolist())
        except Exception as error:
            line = f"{type(error).__name__}: {error}"
            answer = json.dumps({"error": " ".join(line.split())})
        partial = Path(folder, f"{number}.partial")
        partial.write_text(answer, encoding="utf-8")
        partial.replace(partial.with_suffix(".json"))


if __name__ == "__main__":
    main(*sys.argv[1:])
