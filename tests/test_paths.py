"""Folders that the environment names: what is no folder is refused before anything runs."""

import pytest

from xlrepro.data import registry
from xlrepro.engine import run_trials
from xlrepro.errors import SettingsError, StoreError
from xlrepro.paths import build_dir, cache_dir, project_root, supplied_dir


def test_a_build_folder_may_not_be_there_yet_and_a_tilde_is_the_users_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XLREPRO_BUILD", "~/new/build")
    assert build_dir() == tmp_path / "new" / "build"


PLACES = {
    "XLREPRO_HOME": project_root,
    "XLREPRO_BUILD": build_dir,
    "XLREPRO_DATA": cache_dir,
    "XLREPRO_SUPPLIED": supplied_dir,
    "XLREPRO_MIRROR": lambda: registry.fetch("ud-r2.2", "en/train"),
}


@pytest.mark.parametrize("variable", PLACES)
@pytest.mark.parametrize(
    "named", [__file__, "LOOP", "LOOP/below", "~nosuchuser/x", "/tmp/" + "x" * 300]
)
def test_a_path_that_cannot_be_one_is_refused_in_one_line(tmp_path, monkeypatch, variable, named):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv(variable, named.replace("LOOP", str(tmp_path / "loop")))
    with pytest.raises(SettingsError, match=f"{variable}=.* cannot be used") as raised:
        PLACES[variable]()
    assert len(str(raised.value).splitlines()) == 1


def test_a_home_without_a_project_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_HOME", str(tmp_path))
    with pytest.raises(SettingsError, match=f"XLREPRO_HOME={tmp_path} holds no data/reported"):
        project_root()


@pytest.mark.parametrize("name", ["scratch", "logs"])
def test_a_run_that_could_not_keep_its_files_trains_nothing(store, trial_of, name):
    store.root.parent.joinpath(name).write_text("")
    with pytest.raises(StoreError, match=f"{name}.* cannot be written: .*set XLREPRO_BUILD"):
        run_trials([trial_of()], store=store, device="cpu")
    assert store.records() == []
