"""The paper's named entities and the vectors they need, which the user supplies.

Below the folder of supplied files (``paths.supplied_dir``):

    conll-ner/{en,de,es,nl}/{train,dev,test}   see ``xlrepro.corpora.readers.conll_ner``
    fasttext-wiki/wiki.{en,de,es,nl}.vec       fastText's vectors of each language's Wikipedia

The vectors are mapped here, by MUSE or by UMWE, with the sizes and rates of MUSE's paper. The slots
of Table 2 are proprietary, and no reader of the reviews of Table 5 is written.
"""

from collections.abc import Sequence
from pathlib import Path

from xlrepro.artefacts import hash_of
from xlrepro.corpora.readers import conll_ner
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.mappings.recipes import NAMES as WITHOUT_DICTIONARY
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.embeddings.vectors import supplied as supplied_vectors
from xlrepro.embeddings.vectors.encoding import Lookup
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.man_moe.data import OPEN_CORPORA
from xlrepro.papers.man_moe.examples import Example
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.paths import supplied_dir

CORPORA = {"NER": (conll_ner.NAME,), "SF": (), "reviews": ()}
FASTTEXT = "fasttext-wiki"


def labelled(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Example]:
    """Return the labelled texts of a split, cut to the settings' limit.

    Raises:
        DataError: if a file is missing or malformed.
        SettingsError: for an unknown corpus.
    """
    found = _sentences(settings, language, split)
    return [Example(s.tokens, s.entities or ()) for s in found]


def text(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[tuple[str, ...]]:
    """Return the words of a split without its labels; errors as :func:`labelled`."""
    return [s.tokens for s in _sentences(settings, language, split)]


def _sentences(settings: TransferSettings, language: str, split: str) -> Sequence[Sentence]:
    _check_corpus(settings)
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    (file,) = conll_ner.files([(language, split)])
    return conll_ner.read(file)[:limit]


def _check_corpus(settings: TransferSettings) -> None:
    known = (*OPEN_CORPORA[settings.task], *CORPORA[settings.task])
    if settings.corpus not in known:
        raise SettingsError(
            f"unknown corpus {settings.corpus!r} for {settings.task}; known: {', '.join(known)}"
        )


def vectors(name: str, languages: tuple[str, ...]) -> Lookup:
    """Return the vectors of supplied fastText files, or open ones by their names.

    Raises:
        CollapsedError: if a map collapsed.
        DataError: naming the supplied files that are missing.
        SettingsError: for unknown vectors.
    """
    if name in WITHOUT_DICTIONARY:
        return supplied_vectors.load(name, vector_files(languages))
    return open_vectors.load(name, languages)


def vector_files(languages: Sequence[str]) -> dict[str, Path]:
    """Return the supplied fastText file of each language.

    Raises:
        DataError: naming all that are not there.
    """
    root = supplied_dir() / FASTTEXT
    files = {language: root / f"wiki.{language}.vec" for language in languages}
    missing = [file.name for file in files.values() if not file.is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} in {root}: put fastText's vectors of Wikipedia there, each "
            f"language by itself, or set XLREPRO_SUPPLIED to the folder above {FASTTEXT}/"
        )
    return files


def data_hashes(settings: TransferSettings) -> dict[str, str]:
    """Return what identifies every file that a trial reads; supplied ones by their size.

    Raises:
        DataError: naming the supplied files that are missing.
        SettingsError: for an unknown corpus or unknown vectors.
    """
    _check_corpus(settings)
    wanted: dict[tuple[str, str], None] = {}
    for target in settings.targets:
        sources = settings.sources(target)
        wanted |= dict.fromkeys((code, part) for code in sources for part in ("train", "dev"))
        wanted |= dict.fromkeys((target, part) for part in ("train", "dev", "test"))
    files = conll_ner.files(list(wanted))
    hashes = {
        f"supplied/{conll_ner.NAME}/{language}/{split}": f"{file.stat().st_size} bytes"
        for (language, split), file in zip(wanted, files, strict=True)
    }
    name = settings.vectors
    if name in WITHOUT_DICTIONARY:
        recipe = supplied_vectors.recipe(name, vector_files(settings.languages))
        return hashes | {f"vectors/{name}": hash_of(recipe)}
    return hashes | {f"vectors/{name}": open_vectors.recipe_hash(name)}
