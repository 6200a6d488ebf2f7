"""Supplied files: what is needed, what is missing, and that no part is taken for the whole."""

from itertools import product
from pathlib import Path

import pytest

from xlrepro import artefacts
from xlrepro.data import named, supplied
from xlrepro.errors import DataError
from xlrepro.experiments import all_experiments, files_of

CZECH = ["Czech-PDT", "Czech-CAC", "Czech-CLTT", "Czech-FicTree"]
WORD = "1\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    return tmp_path


def put(root, treebank, split, word="slovo"):
    code = treebank.split("-")[1].lower()
    file = root / supplied.RELEASE / f"UD_{treebank}" / f"cs_{code}-ud-{split}.conllu"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(WORD.format(word))


def czech(split):
    return [s.tokens[0] for s in named.corpus("ud-release", "POS").sentences("cs", split, None)]


@pytest.mark.parametrize("lacking", ["UD_Czech-PDT", "UD_Czech-PDT/cs_pdt-ud-test.conllu"])
def test_a_listed_treebank_without_folder_or_test_set_is_named(root, lacking):
    for treebank, split in product(CZECH, ("train", "test")):
        put(root, treebank, split)
    (root / supplied.RELEASE / lacking).rename(root / "elsewhere")
    with pytest.raises(DataError, match=r"^no [^,]*/UD_Czech-PDT below .* whole release") as told:
        czech("test")
    assert "\n" not in str(told.value)


def test_a_training_set_in_parts_is_read_and_a_dev_set_may_be_missing(root):
    for treebank in CZECH:
        put(root, treebank, "test", treebank)
        for part in "cl":
            put(root, treebank, f"train-{part}", part)
    assert czech("test") == CZECH
    assert czech("train") == [*"cl"] * 4
    with pytest.raises(DataError, match="no dev file of cs"):
        czech("dev")


def test_what_is_read_is_noted_by_content(root, monkeypatch):
    monkeypatch.setattr(artefacts, "_read", [{}])
    for treebank, split in product(CZECH, ("train", "test")):
        put(root, treebank, split, treebank)
    czech("test")
    assert len(set(artefacts.data_read().values())) == 4
    assert all(n.startswith("supplied/ud-treebanks-v2.2/UD_") for n in artefacts.data_read())


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("wiki.en.align.vec", "wiki.de.align.vec", "2 dimensions, wiki.en.align.vec beside it 3:"),
        ("en-vi/dev.en", "en-vi/dev.vi", "2 lines, dev.en beside it 4:"),
    ],
)
def test_files_that_do_not_belong_together_are_told_by_their_sizes(root, one, other, said):
    above = supplied.ALIGNED if one.endswith("vec") else "routing-nmt"
    names = [f"{above}/{name}" for name in (one, other)]
    for name, content in zip(names, ("3 3\na 1 2 3\nb 1 2 3\nc 1 2 3\n", "1 2\nb 1 2\n")):
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        (root / name).write_text(content)
    with pytest.raises(DataError, match=f"{other} has {said}"):
        supplied.check(names, texts=False)


def test_every_supplied_file_that_a_trial_reads_is_of_a_set():
    at_paper = [e for e in all_experiments().values() if "paper" in e.profiles]
    reads = files_of((t for each in at_paper for t in each.trials("paper")), "supplied")
    known = {path for _, _, paths in supplied.needed(reads) for path in paths}
    assert [p for p in reads if not known & {p, *map(str, Path(p).parents)}] == []


def test_what_is_read_after_training_is_sought_before_it():
    at_open = [e for e in all_experiments().values() if "open" in e.profiles]
    nothing = {e.key for e in at_open if not files_of(e.trials("open"), "registered")}
    words = {f"word_order/{name}" for name in ("distances", "open_vectors", "learning_rates")}
    senses = {f"sense_alignment/{name}" for name in ("tables6_8", "figures4_7")}
    assert nothing == words | senses | {"ramen/table4"}  # which trains on the target's treebank
