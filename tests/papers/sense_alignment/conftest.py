"""Language models of these tests are trained anew: none is taken from an earlier run."""

import pytest

from xlrepro.papers.sense_alignment import training


@pytest.fixture(scope="package", autouse=True)
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLREPRO_DATA", str(tmp_path_factory.mktemp("cache")))
        yield
    training.load.cache_clear()


@pytest.fixture
def given(monkeypatch):
    """Return a function to a list: of states that predict and choose, and words, of each loss."""

    def of(model):
        seen = []
        for part in model.parts():

            def watched(*asked, loss=part.loss, **more):
                seen.append(asked[:3])
                return loss(*asked, **more)

            monkeypatch.setattr(part, "loss", watched)
        return seen

    return of
