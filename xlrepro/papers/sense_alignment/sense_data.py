"""Words with senses: SemCor and the five test sets, or artificial languages that have the same."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from xlrepro.artificial.ontology import load_ontology
from xlrepro.data import loading, registry
from xlrepro.data.readers.senses import SenseSentence, read_senses
from xlrepro.papers.sense_alignment.pretraining import text
from xlrepro.papers.sense_alignment.settings import DisambiguationSettings

SEMCOR = ("en/brown1", "en/brown2", "en/brownv")
INVENTORY_FILE = ("oewn-senses", "en/senses")
ANNOTATED = ("nouns", "verbs", "adjectives")  # of an artificial language


class TestSet(NamedTuple):
    """A test set: its file, the layout of its columns, and how many instances count."""

    dataset: str
    file: str
    layout: str
    total: int


# Totals of the unified framework; SemEval-2007 has 465 instances here and 455 there.
TEST_SETS = {
    "SE2": TestSet("wsd-unified", "en/senseval2", "unified", 2282),
    "SE3": TestSet("wsd-unified", "en/senseval3", "unified", 1850),
    "SE07": TestSet("wsd-naf", "en/semeval2007", "naf", 465),
    "SE13": TestSet("wsd-unified", "en/semeval2013", "unified", 1644),
    "SE15": TestSet("wsd-unified", "en/semeval2015", "unified", 1022),
}


def training(settings: DisambiguationSettings, pairs: int) -> list[SenseSentence]:
    """Return the annotated training text.

    Args:
        settings: of the trial.
        pairs: of artificial languages: pairs of concepts that share a word.

    Raises:
        DataError: if a file is missing.
    """
    if settings.corpus == "artificial":
        return _artificial(pairs, settings.train_sentences or 0, "semcor")
    sentences = [
        sentence
        for file in SEMCOR
        for sentence in read_senses(registry.fetch("wsd-naf", file, progress=False), "naf")
    ]
    return sentences[: settings.train_sentences]


def test_set(
    settings: DisambiguationSettings, pairs: int, name: str
) -> tuple[list[SenseSentence], int]:
    """Return a test set and how many instances it has officially.

    Raises:
        DataError: if its file is missing.
    """
    if settings.corpus == "artificial":
        sentences = _artificial(pairs, settings.test_sentences or 0, name)
        return sentences, sum(bool(keys) for s in sentences for keys in s.senses)
    entry = TEST_SETS[name]
    path = registry.fetch(entry.dataset, entry.file, progress=False)
    sentences = read_senses(path, entry.layout)
    if settings.test_sentences is None:
        return sentences, entry.total
    sentences = sentences[: settings.test_sentences]
    return sentences, sum(bool(keys) for s in sentences for keys in s.senses)


@lru_cache(maxsize=2)
def inventory(corpus: str, pairs: int) -> Mapping[str, Sequence[str]]:
    """Return the senses of each lemma, the most usual first."""
    senses: dict[str, list[str]] = {}
    if corpus == "artificial":
        stems = text.family(pairs).language(text.SOURCE).lexicon.stems
        ranked = sorted(load_ontology().concepts.values(), key=lambda c: (c.rank, c.key))
        for concept in ranked:
            stem = stems[concept.key]
            senses.setdefault(stem, []).append(f"{stem}%{concept.key}")
        return senses
    for lemma, _, sense, _ in loading.load_rows(*INVENTORY_FILE):
        senses.setdefault(lemma.lower().replace(" ", "_"), []).append(sense)
    return senses


@lru_cache(maxsize=16)
def _artificial(pairs: int, sentences: int, split: str) -> list[SenseSentence]:
    """Return sentences of the artificial English, every content word with its concept as sense."""
    family = text.family(pairs)
    concepts, stems = load_ontology().concepts, family.language(text.SOURCE).lexicon.stems
    made = []
    for realised in family.realisations(text.SOURCE, sentences, f"senses {split}"):
        words = realised.words
        keys = [word.sense if word.sense in concepts else None for word in words]
        made.append(
            SenseSentence(
                tokens=tuple(word.form for word in words),
                lemmas=tuple(stems[k] if k else w.form for k, w in zip(keys, words)),
                tags=tuple(word.upos for word in words),
                senses=tuple(
                    (f"{stems[k]}%{k}",) if k and concepts[k].group in ANNOTATED else ()
                    for k in keys
                ),
                instances=(None,) * len(words),
            )
        )
    return made


def data_hashes(settings: DisambiguationSettings) -> dict[str, str]:
    """Return the content hash of every file that a trial reads, and of its model's text."""
    hashes = {}
    if settings.model is not None:
        hashes["text/" + "-".join(settings.model.languages)] = text.text_hash(settings.model)
    if settings.corpus == "artificial":
        return hashes | {"artificial": f"family {text.FAMILY_SEED}"}
    files = [("wsd-naf", file) for file in SEMCOR]
    files += [(entry.dataset, entry.file) for entry in TEST_SETS.values()]
    files.append(INVENTORY_FILE)
    return hashes | {f"{name}/{file}": registry.content_hash(name, file) for name, file in files}
