"""The paper's own corpora as users supply them, on a few made-up lines."""

import pytest

from xlrepro.papers.routing_nmt.data import supplied
from xlrepro.papers.routing_nmt.data.encoding import Encoded
from xlrepro.papers.routing_nmt.experiments import settings_of

ENGLISH = {
    "train": "The rain falls .\nThe sun shines .\nThe snow shines .\n",
    "dev": "the sun shines\n",
    "test": "The snow falls .\nThe rain shines .\n",
}
OTHER = {
    "train": "ra , fa .\nsu sha .\nno sha .\n",
    "dev": "su sha\n",
    "test": "no , fa .\nra sha .\n",
}
TREE = "( (S (NP-SBJ (DT The) (NN rain)) (VP (VBZ falls) (NP (-NONE- *))) (. .)) )\n"
GRAPH = "# ::id 1\n# ::snt The rain falls .\n(f / fall-01\n  :ARG1 (r / rain))\n\n"
ENTITIES = "-DOCSTART- -X- O O\n\nThe DT I-NP O\nrain NN I-NP I-PER\nfalls V I-VP O\n. . O O\n\n"
TARGETS = {
    "ner": "O B-PER O O",
    "syntax": "(S (NP XX XX )NP (VP XX )VP XX )S",
    "semantics": "( fall-01 :ARG1 rain )",
}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Training has three auxiliary sentences of each task, development two, test one."""
    texts = {}
    for split, times in {"train": 3, "dev": 2, "test": 1}.items():
        for code in ("vi", "fa"):
            texts[f"routing-nmt/en-{code}/{split}.en"] = ENGLISH[split]
            texts[f"routing-nmt/en-{code}/{split}.{code}"] = OTHER[split]
        texts[f"routing-nmt/ptb/{split}.mrg"] = TREE * times
        texts[f"routing-nmt/amr-2.0/{split}.txt"] = GRAPH * times
        texts[f"conll-ner/en/{split}"] = ENTITIES * times
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    for name in ("translation", "auxiliary"):  # nothing is kept beyond the test
        monkeypatch.setattr(supplied, name, getattr(supplied, name).__wrapped__)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("pair", "read"), [("en-vi", "no, fa."), ("en-fa", "no , fa .")])
def test_supplied_corpora_are_read_cut_and_tagged(pair, read):
    few = {"bpe_operations": 5, "min_count": 1}
    data = Encoded(settings_of("paper", "MTL (Full)", pair, few))
    translation = data.tasks["translation"]
    assert data.counts["translation"]["overlapping"] == 1
    assert translation.lines["test"][0] == read
    assert data.words(translation.test[0].target[1:-1]) == ["no", ",", "fa", "."]
    for task, each in data.tasks.items():
        sizes = tuple(len(examples) for examples in (each.train, each.dev, each.test))
        assert sizes == ((2, 1, 2) if task == "translation" else (3, 2, 1))
        source = [data.source.tokens[each.train[0].source[0]], *data.source_words(each.train[0])]
        assert source == [f"<{task}>", "The", "rain", "falls", "."]
        if task != "translation":
            target = [each.target.tokens[number] for number in each.test[0].target[1:-1]]
            assert " ".join(target) == TARGETS[task]
