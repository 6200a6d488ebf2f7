"""A bilingual model from its first rows to its last stage, on small artificial languages."""

import itertools

import numpy as np
import pytest
import torch

from xlrepro.papers.ramen import experiments, recipes
from xlrepro.papers.ramen.rows import MONO, RANDOM
from xlrepro.papers.ramen.stages import adaptation, streams

STAGE = {"updates": 2, "sequences": 4, "length": 16, "checkpoint_every": 1}
ENGLISH = {"model": "own", "vocabulary": 150, "dim": 8, "layers": 1, "heads": 2, "ff_dim": 16}
SMALL = {
    "words": 400,
    "vocabulary": 150,
    "english": {**ENGLISH, "positions": 96, "head": STAGE, "all": STAGE},
    "embeddings": STAGE,
    "bilingual": STAGE,
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path_factory.getbasetemp() / "adaptation"))


def settings_of(row=MONO, **initialisation):
    settings = experiments.evaluation_settings("smoke", "XNLI", row, ["fr"], SMALL)
    made = recipes.adaptation_of(settings, "fr")
    changed = made.initialisation.model_copy(update=initialisation)
    return made.model_copy(update={"initialisation": changed})


def begun(settings):
    """The English side with a bias that is nowhere zero, the first rows, and both pieces."""
    source, pieces = (streams.pieces(settings, code) for code in ("en", "fr"))
    model = adaptation._read(settings, adaptation.english_folder(settings), {})
    side = model.side("en")
    with torch.no_grad():
        side.bias.copy_(torch.arange(1.0, len(side.bias) + 1))
    return side, adaptation.initial(settings, model, source, pieces), source, pieces


@pytest.mark.parametrize("row", [MONO, RANDOM])
def test_special_pieces_begin_as_copies_of_their_namesakes(row):
    side, start, source, pieces = begun(settings_of(row))
    own, english = list(pieces.special[:5]), list(source.special[:5])
    assert start.estimated[own].all()
    np.testing.assert_allclose(start.embeddings[own], side.pieces.weight.detach().numpy()[english])
    np.testing.assert_allclose(start.bias[own], side.bias.detach().numpy()[english])


def test_the_output_bias_begins_mixed_or_at_zero():
    _, mixed, _, pieces = begun(settings_of())
    ordinary = np.arange(len(mixed.bias)) >= pieces.special.first_ordinary
    assert (mixed.bias[ordinary & mixed.estimated] >= 1).all()  # mixtures of 1, 2, 3 ...
    assert not begun(settings_of(bias="zero"))[1].bias.any()


def test_a_model_starts_from_its_first_rows_and_ends_with_both_languages_tuned():
    settings = settings_of()
    at = adaptation.folder(settings)
    points = [torch.load(at / f"{name}.pt", weights_only=True) for name in adaptation.CHECKPOINTS]
    source, pieces = (streams.pieces(settings, code) for code in ("en", "fr"))
    english = adaptation._read(settings, adaptation.english_folder(settings), {})
    begin = adaptation.initial(settings, english, source, pieces)
    np.testing.assert_array_equal(points[0]["sides.fr.pieces.weight"].numpy(), begin.embeddings)
    np.testing.assert_array_equal(points[0]["sides.fr.bias"].numpy(), begin.bias)
    moved = [
        {name for name in points[0] if not torch.equal(before[name], after[name])}
        for before, after in itertools.pairwise(points)
    ]
    assert moved[0] == {"sides.fr.pieces.weight", "sides.fr.bias"}
    assert {"sides.en.pieces.weight", "sides.fr.pieces.weight"} < moved[1]
    log = adaptation.load(settings, "end")[2]
    assert set(log["embeddings"]["loss"]) == {"fr"}
    assert set(log["end"]["loss"]) == {"fr", "en"}
    assert log["end"]["pieces"] == 2 * log["embeddings"]["pieces"]


def test_a_build_that_breaks_off_between_the_stages_ends_with_the_same_bits(tmp_path, monkeypatch):
    settings, tuned = settings_of(), adaptation._tuned
    whole = torch.load(adaptation.folder(settings) / "end.pt", weights_only=True)
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    adaptation.english_folder(settings)

    def broken(model, train, what, *rest):
        if what == "all":
            raise KeyboardInterrupt
        return tuned(model, train, what, *rest)

    monkeypatch.setattr(adaptation, "_tuned", broken)
    with pytest.raises(KeyboardInterrupt):
        adaptation.folder(settings)
    monkeypatch.setattr(adaptation, "_tuned", tuned)
    again = torch.load(adaptation.folder(settings) / "end.pt", weights_only=True)
    assert all(torch.equal(values, again[name]) for name, values in whole.items())
