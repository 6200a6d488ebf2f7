"""Files that a user supplies, because nobody may download them: where they lie, what is missing.

Below the folder of supplied files (``paths.supplied_dir``)::

    ud-treebanks-v2.2/UD_…/…-ud-{train,dev,test}.conllu   Universal Dependencies 2.2, as released
    conll-ner/{en,es,nl,de}/{train,dev,test}              CoNLL-2002 and 2003 (``conll_ner.py``)
    fb-multilingual-nlu/train-en.conllu                   English training file of the utterances
    fasttext-aligned/wiki.LANGUAGE.align.vec              aligned fastText (RCSLS) vectors
    fasttext-wiki/wiki.LANGUAGE.vec                       fastText's vectors of each Wikipedia

What is supplied is named in a trial's key by its size: hashing gigabytes whenever trials are
planned would be slow.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from xlrepro.errors import DataError
from xlrepro.paths import supplied_dir
from xlrepro.yaml_files import read_yaml

RELEASE = "ud-treebanks-v2.2"
UTTERANCES = "fb-multilingual-nlu"
ALIGNED = "fasttext-aligned"
WIKI = "fasttext-wiki"


def size(file: Path) -> str:
    """Return what identifies a supplied file in a trial's data."""
    return f"{file.stat().st_size} bytes"


@cache
def treebanks() -> dict[str, list[str]]:
    """Return the UD 2.2 treebanks of each language, as Ahmad et al. (2019) list them."""
    file = resources.files("xlrepro.data") / "treebanks.yaml"
    return dict(read_yaml(file))


def release_files(language: str, split: str) -> list[Path]:
    """Return the files of a language in the official UD v2.2 release, in the order of the list.

    Raises:
        DataError: if the release is not there, or has no such split of the language.
    """
    root = supplied_dir() / RELEASE
    files = [
        root / f"UD_{name}" / f"{language}_{name.split('-')[-1].lower()}-ud-{split}.conllu"
        for name in treebanks()[language]
    ]
    present = [file for file in files if file.is_file()]
    if not present:
        raise DataError(
            f"no {split} file of {language} below {root}: unpack the UD 2.2 release "
            "(hdl.handle.net/11234/1-2837) there, or set XLREPRO_SUPPLIED to the folder above it"
        )
    return present


def training_utterances() -> Path:
    """Return the English training file of the Facebook multilingual utterances.

    Raises:
        DataError: if it is not there.
    """
    (file,) = _present(UTTERANCES, ["train-en.conllu"], "the Facebook utterances")
    return file


def aligned_vectors(languages: Sequence[str]) -> dict[str, Path]:
    """Return language to aligned fastText vectors.

    Raises:
        DataError: naming all that are not there.
    """
    names = [f"wiki.{language}.align.vec" for language in languages]
    files = _present(ALIGNED, names, "the aligned fastText (RCSLS) vectors")
    return dict(zip(languages, files, strict=True))


def wiki_vectors(languages: Sequence[str]) -> dict[str, Path]:
    """Return language to fastText's vectors of its Wikipedia, each language by itself.

    Raises:
        DataError: naming all that are not there.
    """
    names = [f"wiki.{language}.vec" for language in languages]
    files = _present(WIKI, names, "fastText's vectors of Wikipedia, each language by itself,")
    return dict(zip(languages, files, strict=True))


def _present(folder: str, names: Sequence[str], what: str) -> list[Path]:
    root = supplied_dir() / folder
    missing = [name for name in names if not (root / name).is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} in {root}: put {what} there, or set XLREPRO_SUPPLIED to the "
            f"folder above {folder}/"
        )
    return [root / name for name in names]
