import json
import threading

import pytest

from xlrepro.artefacts import built, content_hash, content_of, hash_of, used


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    return tmp_path


def test_the_same_recipe_is_built_once():
    calls = []
    folders = {built("kind", "xx", {"a": 1}, calls.append) for _ in range(3)}
    assert len(calls) == len(folders) == 1


def test_another_recipe_is_another_folder():
    assert built("kind", "xx", {"a": 1}, lambda f: None) != built(
        "kind", "xx", {"a": 2}, lambda f: None
    )


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


def test_the_recipe_lies_beside_the_content():
    folder = built("kind", "xx", {"a": [1, 2]}, lambda f: None)
    assert json.loads((folder / "recipe.json").read_text())["recipe"] == {"a": [1, 2]}


def test_hash_does_not_depend_on_the_order_of_keys():
    assert hash_of({"a": 1, "b": {"c": 2, "d": 3}}) == hash_of({"b": {"d": 3, "c": 2}, "a": 1})


def write(text):
    return lambda folder: (folder / "words.txt").write_text(text)


def test_a_content_hash_tells_bytes_not_recipes():
    one, same, other = (
        built("kind", "xx", {"a": n}, write(text)) for n, text in enumerate(["a", "a", "b"])
    )
    assert content_hash(one) == content_hash(same) != content_hash(other)


def test_a_changed_file_changes_the_kept_content_hash():
    folder = built("kind", "xx", {"a": "kept"}, write("a"))
    before = content_hash(folder)
    assert content_hash(folder) == before
    (folder / "words.txt").write_text("longer")
    assert content_hash(folder) != before


def test_what_is_not_built_has_no_content_and_is_not_built(cache):
    assert content_of("kind-xx-0123") is None
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
