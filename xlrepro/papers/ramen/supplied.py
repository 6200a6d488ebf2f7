"""The paper's own text and labels, which the user supplies: where they lie.

Below the folder of supplied files (``paths.supplied_dir``)::

    wikipedia/LANGUAGE.txt                       plain text, a sentence or paragraph a line
    ramen-parallel/LANGUAGE.tsv                  an English sentence, a tab, its translation
    fasttext-aligned/wiki.LANGUAGE.align.vec     aligned fastText vectors
    multinli_1.0/multinli_1.0_train.jsonl        MultiNLI's training set, as released
    ud-treebanks-v2.4/UD_…/…-ud-{train,dev,test}.conllu

XNLI's dev and test sets are open. The paper names no treebanks; these are the first of each
language's that have training data.
"""

from collections.abc import Sequence

from xlrepro.data.supplied import ALIGNED, vector_files

SOURCE = "en"
INFERENCE = "multinli_1.0/multinli_1.0_train.jsonl"
TREEBANKS = {
    "en": "English-EWT", "fr": "French-GSD", "ru": "Russian-GSD", "ar": "Arabic-PADT",
    "hi": "Hindi-HDTB", "vi": "Vietnamese-VTB", "zh": "Chinese-GSD",
}  # fmt: skip


def text_path(language: str) -> str:
    """Return where a language's text lies."""
    return f"wikipedia/{language}.txt"


def parallel_path(language: str) -> str:
    """Return where a language's sentence pairs lie."""
    return f"ramen-parallel/{language}.tsv"


def trees_path(language: str, split: str) -> str:
    """Return where a split of a language's treebank lies."""
    name = TREEBANKS[language]
    file_name = f"{language}_{name.partition('-')[2].lower()}-ud-{split}.conllu"
    return f"ud-treebanks-v2.4/UD_{name}/{file_name}"


def text_files(kind: str, targets: Sequence[str]) -> list[str]:
    """Return what adaptations to the targets read, initialised in one way; treebanks' test and dev
    sentences are left out of the text, so these are read too.
    """
    both = (SOURCE, *targets)
    paths = [text_path(code) for code in both]
    if kind == "mono":
        paths += vector_files(ALIGNED, both)
    elif kind == "parallel":
        paths += [parallel_path(code) for code in targets]
    return paths + [trees_path(code, split) for code in both for split in ("dev", "test")]


def labelled_files(task: str, targets: Sequence[str]) -> list[str]:
    """Return what heads are trained on and tested with."""
    if task == "XNLI":
        return [INFERENCE]
    splits = ("train", "dev", "test")
    if task == "UD supervised":
        return [trees_path(code, split) for code in targets for split in splits]
    return [trees_path(SOURCE, split) for split in splits] + [
        trees_path(code, "test") for code in targets
    ]
