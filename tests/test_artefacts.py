import threading

import pytest

from xlrepro import artefacts
from xlrepro.artefacts import built, data_read, file_hash, note_data, used
from xlrepro.errors import DataError, SettingsError


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    return tmp_path


def test_an_interrupted_build_leaves_nothing_and_is_made_again(cache):
    def broken(folder):
        (folder / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        built("kind", "xx", {}, broken)
    assert [path.name for path in (cache / "vectors").iterdir()] == ["locks"]
    folder = built("kind", "xx", {}, lambda f: (f / "whole").write_text("whole"))
    assert (folder / "whole").exists()
    assert not (folder / "half").exists()


def test_a_checkpoint_goes_once_its_artefact_is_there_and_a_full_disk_is_named(
    monkeypatch, tmp_path
):
    (checkpoint := tmp_path / "work.pt").write_text("days")
    with monkeypatch.context() as full:
        full.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(DataError, match=r"full\): make room there, or set XLREPRO_DATA"):
            built("kind", "xx", {}, write("a"), [checkpoint])
    assert checkpoint.exists()
    built("kind", "xx", {}, write("a"), [checkpoint])
    assert not checkpoint.exists()


def test_two_at_once_build_once():
    calls = []
    started = threading.Event()

    def slow(folder):
        calls.append(folder)
        started.wait(0.2)

    threads = [threading.Thread(target=built, args=("kind", "xx", {}, slow)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def write(text):
    return lambda folder: (folder / "words.txt").write_text(text)


def test_content_is_named_by_bytes_not_recipes():
    names = [built("kind", "xx", {"a": n}, write(text)).name for n, text in enumerate("aab")]
    one, same, other = (used()[name] for name in names)
    assert one == same != other


DAMAGES = {
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "missing": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("file", ["words.txt", "recipe.json"])
def test_a_damaged_artefact_is_built_again_and_named(damage, file, capsys):
    folder = built("kind", "xx", {"a": "damage"}, write("right"))
    before = used()[folder.name]
    damage(folder / file)
    capsys.readouterr()
    again = built("kind", "xx", {"a": "damage"}, write("right"))
    assert (again / "words.txt").read_text() == "right"
    assert used()[folder.name] == before
    assert capsys.readouterr().err.count(f"{folder} is damaged") == 1


def test_a_file_of_the_same_size_is_hashed_again_and_an_unchanged_one_is_not(tmp_path, monkeypatch):
    file = tmp_path / "data"
    file.write_text("one")
    first = file_hash(file)
    artefacts._file_hash.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(artefacts.hashlib, "file_digest", None)
        assert file_hash(file) == first
    file.write_text("two")
    assert file_hash(file) != first


@pytest.mark.parametrize("language", ["../victim", "a/b", "é"])
def test_a_name_that_is_no_folder_of_the_cache_is_never_made(language, cache):
    with pytest.raises(SettingsError, match="an artefact is named by"):
        built("kind", language, {}, write("x"))
    assert list(cache.iterdir()) == []


def test_used_artefacts_are_noted_without_what_their_builders_used(cache):
    def build(folder):
        built("inner", "xx", {}, write("inner"))
        write("outer")(folder)

    outer = built("outer", "xx", {}, build)
    assert outer.name in used()
    assert not [name for name in used() if name.startswith("inner-")]
    built("inner", "xx", {}, write("inner"))
    assert [name for name in used() if name.startswith("inner-")]


def test_data_that_a_builder_read_is_noted_again_on_use(monkeypatch):
    def inner(folder):
        note_data("ud/en/train", "a" * 64)
        write("inner")(folder)

    def outer(folder):
        built("inner", "xx", {"of": "data"}, inner)
        write("outer")(folder)

    for _ in range(2):  # built, then found
        monkeypatch.setattr(artefacts, "_read", [{}])
        built("outer", "xx", {"of": "data"}, outer)
        assert data_read() == {"ud/en/train": "a" * 64}


def test_remains_of_a_killed_build_are_removed(cache):
    folder = built("kind", "xx", {"a": "killed"}, write("a"))
    (cache / "vectors" / f"{folder.name}.abc.part").mkdir()
    DAMAGES["truncated"](folder / "words.txt")
    built("kind", "xx", {"a": "killed"}, write("a"))
    assert not list((cache / "vectors").glob("*.part"))
