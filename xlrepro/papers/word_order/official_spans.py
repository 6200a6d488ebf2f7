"""The paper's own corpora of the two span tasks, which the user supplies, and their vectors.

Below the folder of supplied files (``paths.supplied_dir``):

    conll-ner/{en,es,nl,de}/{train,dev,test}       CoNLL-2003 (en, de) and CoNLL-2002 (es, nl)
    fb-multilingual-nlu/train-en.conllu            the English training file of the Facebook data
    fasttext-aligned/wiki.{en,es,nl,de,th}.align.vec

The other files of the Facebook data are registered ones. The CoNLL files are read as distributed:
``train`` is their train, ``dev`` their testa, ``test`` their testb; only the files that a trial
reads must be there.
"""

from collections.abc import Sequence
from pathlib import Path

from xlrepro.corpora import registry
from xlrepro.corpora.readers import conll_ner
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.embeddings.vectors.encoding import TagSet
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.word_order import nlu_data
from xlrepro.papers.word_order.nlu_settings import NLUSettings, nlu_settings
from xlrepro.papers.word_order.span_data import SpanSettings, labels
from xlrepro.paths import supplied_dir

FACEBOOK = nlu_data.OFFICIAL
CORPORA = (conll_ner.NAME, FACEBOOK)
ALIGNED = "fasttext-aligned"


def sentences(settings: SpanSettings, language: str, split: str) -> list[Sentence]:
    """Return a split of a supplied corpus, cut to the settings' limit.

    Args:
        settings: name the corpus and the limits.
        language: its code.
        split: ``"train"``, ``"dev"`` or ``"test"``.

    Raises:
        DataError: if a file is missing or malformed.
        SettingsError: for a corpus that is not one of ``CORPORA``.
    """
    if settings.corpus == FACEBOOK:
        return nlu_data.sentences(_as_nlu(settings), language, split)
    if settings.corpus != conll_ner.NAME:
        raise SettingsError(f"unknown corpus {settings.corpus!r}; known: {', '.join(CORPORA)}")
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    (file,) = conll_ner.files([(language, split)])
    return list(conll_ner.read(file)[:limit])


def _as_nlu(settings: SpanSettings) -> NLUSettings:
    """Return what the loader of Table 3 wants to know: corpus, languages and limits."""
    names = ("source", "targets", "train_sentences", "test_sentences")
    values = {name: getattr(settings, name) for name in names}
    return nlu_settings("paper", {"kind": "bilstm"}, values)


def few_shot(settings: SpanSettings) -> list[Sentence]:
    """Return the first ``few_shot_share`` of the few-shot language's training sentences."""
    if settings.few_shot_language is None:
        return []
    found = sentences(settings, settings.few_shot_language, "train")
    return found[: round(settings.few_shot_share * len(found))]


def tag_set(settings: SpanSettings) -> TagSet:
    """Return the tags of the source training split, each B- with its I-."""
    found = sentences(settings, settings.source, "train")
    kinds = {t[2:] for s in found for t in labels(s, settings.task) if t != "O"}
    return TagSet(["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")])


def corpus_hashes(settings: SpanSettings) -> dict[str, str]:
    """Return what identifies every file of the corpus that a trial reads.

    What the user supplies is named by its size, as in ``data.data_hashes``.

    Raises:
        DataError: naming the supplied files that are missing.
        SettingsError: for a corpus that is not one of ``CORPORA``.
    """
    few = [] if settings.few_shot_language is None else [(settings.few_shot_language, "train")]
    if settings.corpus == FACEBOOK:
        hashes = nlu_data.data_hashes(_as_nlu(settings))
        del hashes[f"vectors/{ALIGNED}"]  # those of Table 3
        files = [f"{language}/{split}" for language, split in few]
        name = nlu_data.REGISTERED
        return hashes | {f"{name}/{file}": registry.content_hash(name, file) for file in files}
    if settings.corpus != conll_ner.NAME:
        raise SettingsError(f"unknown corpus {settings.corpus!r}; known: {', '.join(CORPORA)}")
    wanted = [(settings.source, split) for split in ("train", "dev", "test")]
    wanted += [(language, "test") for language in settings.targets] + few
    return {
        f"supplied/{conll_ner.NAME}/{language}/{split}": _size(file)
        for (language, split), file in zip(wanted, conll_ner.files(wanted), strict=True)
    }


def data_hashes(settings: SpanSettings) -> dict[str, str]:
    """Return the corpus' hashes and those of the word vectors; errors as :func:`corpus_hashes`."""
    hashes = corpus_hashes(settings)
    if settings.vectors != ALIGNED:
        return hashes | {f"vectors/{settings.vectors}": open_vectors.recipe_hash(settings.vectors)}
    files = vector_files((settings.source, *settings.targets))
    return hashes | {f"supplied/{file.name}": _size(file) for file in files}


def vector_files(languages: Sequence[str]) -> list[Path]:
    """Return the supplied aligned fastText vectors of languages.

    Raises:
        DataError: naming all that are not there.
    """
    root = supplied_dir() / ALIGNED
    files = [root / f"wiki.{language}.align.vec" for language in languages]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise DataError(
            f"no {', '.join(missing)} in {root}: put the aligned fastText (RCSLS) vectors there, "
            f"or set XLREPRO_SUPPLIED to the folder above {ALIGNED}/"
        )
    return files


def _size(file: Path) -> str:
    return f"{file.stat().st_size} bytes"
