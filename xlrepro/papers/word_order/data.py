"""Sentences and vectors of the POS task, by the names that the settings use.

What only one profile needs is imported where it is used, so that a change of the artificial
languages does not make the records of real data stale.
"""

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import yaml

from xlrepro import paths
from xlrepro.corpora import loading, registry
from xlrepro.corpora.readers.conllu import read_conllu
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.embeddings.vectors.encoding import EncodedSplit, Lookup, TagSet, encode
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.precision import cached_per_precision

FAMILY_SEED = 0
CORPORA = ("artificial", "ud-r2.2", "ud-release")
VECTORS = ("dictionary", "mapped", "fasttext-aligned")
# The 17 universal tags; X and SYM among them though some treebanks never use them.
UPOS = TagSet(
    [
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "PUNCT",
        "SCONJ",
        "SYM",
        "VERB",
        "X",
    ]
)


def sentences(settings: TaggingSettings, language: str, split: str) -> list[Sentence]:
    """Return a split of the settings' corpus, cut to the settings' limit.

    ``artificial`` languages, ``ud-r2.2`` (the open mirror), or ``ud-release`` (the official
    release, which the user supplies).

    Raises:
        DataError: if a file is missing or malformed.
        SettingsError: for an unknown corpus.
    """
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial":
        if limit is None:
            raise SettingsError(
                "artificial corpora have no end: set train_sentences and test_sentences"
            )
        from xlrepro.corpora.artificial import family_of

        return family_of(FAMILY_SEED).corpus(language, limit, split=split)
    if settings.corpus == "ud-r2.2":
        return loading.load("ud-r2.2", f"{language}/{split}")[:limit]
    if settings.corpus == "ud-release":
        return _release(language, split)[:limit]
    raise SettingsError(f"unknown corpus {settings.corpus!r}; known: {', '.join(CORPORA)}")


# The same as paths.supplied_dir, which came later: to import it here would make records stale. Do
# so with the next change of this module; until then a test compares the two.
def supplied_dir() -> Path:
    """Return where users put what cannot be downloaded: ``XLREPRO_SUPPLIED``, else in the cache."""
    chosen = os.environ.get("XLREPRO_SUPPLIED")
    return Path(chosen).expanduser() if chosen else paths.cache_dir() / "supplied"


def release_files(language: str, split: str) -> list[Path]:
    """Return the files of a language in the official UD v2.2 release, in the paper's order.

    Raises:
        DataError: if the release is not there, or has no such split of the language.
    """
    root = supplied_dir() / "ud-treebanks-v2.2"
    names = treebanks()[language]
    found = [
        root / f"UD_{name}" / f"{language}_{name.split('-')[-1].lower()}-ud-{split}.conllu"
        for name in names
    ]
    present = [path for path in found if path.is_file()]
    if not present:
        raise DataError(
            f"no {split} file of {language} below {root}: unpack the UD 2.2 release "
            "(hdl.handle.net/11234/1-2837) there, or set XLREPRO_SUPPLIED to the folder above it"
        )
    return present


def treebanks() -> dict[str, list[str]]:
    """Return the treebanks of each language, as Ahmad et al. (2019) list them."""
    folder = resources.files("xlrepro.papers.word_order") / "presets"
    with (folder / "treebanks.yaml").open(encoding="utf-8") as file:
        return dict(yaml.safe_load(file))


def _release(language: str, split: str) -> list[Sentence]:
    return [s for path in release_files(language, split) for s in read_conllu(path)]


@cached_per_precision(maxsize=4)
def vectors(corpus: str, name: str, languages: tuple[str, ...]) -> Lookup:
    """Return the word vectors ``name`` for ``languages`` (cached in the process).

    Raises:
        DataError: if the files of ``fasttext-aligned``, which the user supplies, are missing.
        SettingsError: for unknown vectors.
    """
    if name not in VECTORS:
        raise SettingsError(f"unknown vectors {name!r}; known: {', '.join(VECTORS)}")
    if corpus == "artificial":
        from xlrepro.corpora.artificial import family_of
        from xlrepro.embeddings.vectors import artificial as artificial_vectors

        return artificial_vectors.load(family_of(FAMILY_SEED), languages, name=name)
    if name == "fasttext-aligned":
        from xlrepro.embeddings.vectors import vec_files

        folder = supplied_dir() / "fasttext-aligned"
        files = {code: folder / f"wiki.{code}.align.vec" for code in languages}
        for code, file in files.items():
            if not file.is_file():
                raise DataError(
                    f"{file} is missing: put the aligned fastText (RCSLS) vectors of {code} there, "
                    "or set XLREPRO_SUPPLIED to the folder that holds fasttext-aligned/"
                )
        return vec_files.load_vec(files)
    return open_vectors.load(name, languages)


def data_hashes(settings: TaggingSettings) -> dict[str, str]:
    """Return the content hash of every data set that a trial with these settings reads.

    Data that the user supplies is named by its path and size: hashing gigabytes at every
    ``--dry-run`` would make planning slow.
    """
    if settings.corpus == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    languages = (settings.source, *settings.targets)
    if settings.corpus not in CORPORA or settings.vectors not in VECTORS:
        raise SettingsError(
            f"unknown corpus {settings.corpus!r} or vectors {settings.vectors!r}; "
            f"known: {', '.join(CORPORA)}; {', '.join(VECTORS)}"
        )
    wanted = [(settings.source, "train"), (settings.source, "dev")]
    if settings.evaluate_targets:
        wanted += [(code, "test") for code in languages]
    hashes: dict[str, str] = {}
    for code, split in wanted:
        if settings.corpus == "ud-r2.2":
            hashes[f"ud-r2.2/{code}/{split}"] = registry.content_hash("ud-r2.2", f"{code}/{split}")
        else:
            for path in release_files(code, split):
                hashes[f"supplied/{path.name}"] = f"{path.stat().st_size} bytes"
    if settings.vectors == "fasttext-aligned":
        hashes["vectors/fasttext-aligned"] = "supplied by the user"
    else:
        hashes[f"vectors/{settings.vectors}"] = open_vectors.recipe_hash(settings.vectors)
    return hashes


@cached_per_precision(maxsize=80)
def encoded(settings: TaggingSettings, language: str, split: str) -> EncodedSplit:
    """Return a split as rows of vectors and tag numbers (cached in the process).

    Call it with settings reduced by :func:`data_settings`, so that trials that differ in their
    model share what they read.
    """
    languages = (settings.source, *settings.targets)
    found = sentences(settings, language, split)
    return encode(
        language,
        [s.tokens for s in found],
        [_upos(s, language, split) for s in found],
        UPOS,
        vectors(settings.corpus, settings.vectors, languages),
    )


def _upos(sentence: Sentence, language: str, split: str) -> Sequence[str]:
    if sentence.upos is None:
        raise DataError(f"{language}/{split} has a sentence without UPOS tags: use a UD treebank")
    return sentence.upos


def data_settings(settings: TaggingSettings) -> TaggingSettings:
    """Return ``settings`` with everything that does not decide the data set to fixed values."""
    return TaggingSettings(
        corpus=settings.corpus,
        vectors=settings.vectors,
        source=settings.source,
        targets=settings.targets,
        encoder={"kind": "bilstm"},  # type: ignore[arg-type]
        learning_rate=0.0,
        epochs=0,
        patience=0,
        train_sentences=settings.train_sentences,
        test_sentences=settings.test_sentences,
    )
