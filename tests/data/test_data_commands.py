"""xlrepro data: what a user sees and what a script reads."""

import json

import pytest
from typer.testing import CliRunner

from xlrepro.cli import data_app as app
from xlrepro.errors import SettingsError

CONTENT = b"1\tMoles\tmole\tNOUN\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def run(toy):
    for file_id in ("a", "b"):
        content = CONTENT + file_id.encode()
        toy.register(file_id, content, path=f"toy/{file_id}.conllu.xz")
        toy.put(f"toy/{file_id}.conllu.xz", content)

    def invoke(*arguments, catch=True):
        return CliRunner().invoke(app, list(arguments), catch_exceptions=catch)

    return invoke


def test_list_tells_how_much_is_cached(run):
    run("fetch", "toy", "a")
    (row,) = json.loads(run("list", "--json").stdout)
    assert (row["name"], row["cached"], row["files"]) == ("toy", 1, 2)


def test_what_an_experiment_is_to_be_supplied_with_is_listed_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    (tmp_path / "conll-ner" / "de").mkdir(parents=True)
    (tmp_path / "conll-ner" / "de" / "test").write_text("a O\n")
    call = ["list", "man_moe/table4", "--profile", "paper"]
    rows = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    found = {row["name"]: (row["found"], len(row["missing"])) for row in rows}
    assert found == {"conll-ner": ("1/11", 10), "fasttext-wiki": ("0/4", 4)}
    assert "conll-ner/nl/train" in CliRunner().invoke(app, call).stdout
    for wrong in (["list", "man_moe/table4"], ["list", "no/such", "--profile", "paper"]):
        with pytest.raises(SettingsError):
            CliRunner().invoke(app, wrong, catch_exceptions=False)


def test_fetch_brings_all_files_of_a_data_set(run, toy):
    result = run("fetch", "toy")
    assert result.exit_code == 0
    assert str(toy.cache / "corpora/toy/a.conllu") in result.stdout
    assert {"a.conllu", "b.conllu"} <= set(toy.cached_files())


def test_fetch_of_an_unknown_file_brings_none(run, toy):
    with pytest.raises(SettingsError):
        run("fetch", "toy", "a", "x", catch=False)
    assert not (toy.cache / "corpora").exists()
