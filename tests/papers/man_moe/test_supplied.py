"""The `paper` profile of Table 4: entities and vectors that the user supplies. All invented."""

import pytest

from tests.papers.man_moe.small_models import SIZES
from tests.papers.word_order.made_up_supplies import supply_entities, supply_vectors
from xlrepro.experiments import experiment
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe import run as transfer
from xlrepro.trials import TrialContext
from xlrepro.vectors.mappings import unsupervised

SMALL = {f"model.{name}": size for name, size in SIZES.items()}
SMALL |= {"epochs": 1, "min_iterations": 0, "batch_size": 2}


@pytest.fixture
def supplied(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    for cached in (data.vectors, data._raw):
        cached.cache_clear()
    supply_entities(tmp_path)
    supply_vectors(tmp_path, "fasttext-wiki/wiki.{}.vec")
    yield tmp_path
    for cached in (data.vectors, data._raw):
        cached.cache_clear()


@pytest.fixture
def read_vectors(monkeypatch):
    """Read the supplied vectors as they are: a dozen words are no space to be mapped."""
    loaded = []

    def load(name, files):
        loaded.append((name, tuple(files)))
        return unsupervised.load_vec(files)

    monkeypatch.setattr(unsupervised, "load_supplied", load)
    return loaded


@pytest.mark.parametrize(
    ("key", "system"),
    [
        ("man_moe/table4", "without:MAN-MoE"),
        ("man_moe/table4", "without:MAN-MOE+CharCNN+UMWE"),
        ("word_order/table4", "ner:Chen et al. (2019) using ORT"),
    ],
)
def test_a_paper_trial_runs_on_supplied_files(supplied, read_vectors, key, system):
    (trial,) = experiment(key).trials("paper", [system], [0], SMALL)
    told = []
    result = transfer.transfer(trial, TrialContext(progress=lambda done, _: told.append(done)))
    assert told == sorted(set(told)), "each target's training begins where the last one ended"
    assert [cell.column for cell in result.cells] == ["de", "es", "nl", "avg"]
    assert {name for name, _ in read_vectors} == {"umwe" if "UMWE" in system else "muse"}
    assert {languages for _, languages in read_vectors} == {("en", "de", "es", "nl")}
    assert set(result.details["experiments"]) == {"de", "es", "nl"}
