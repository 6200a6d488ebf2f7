"""What the trials of the paper read, by name and content: no data is read, torch is not loaded."""

from xlrepro.papers.word_order.mbert.settings import MbertSettings
from xlrepro.papers.word_order.nlu.settings import NLUSettings
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.tasks.source import Source


def data_hashes(settings: TaggingSettings, source: Source | None = None) -> dict[str, str]:
    """Return the content hash of every data set that a trial with these settings reads.

    Args:
        settings: of the trial.
        source: where from, if not what the settings name.

    Raises:
        DataError: naming the supplied files that are missing.
        SettingsError: for an unknown corpus or unknown vectors.
    """
    parts = [(settings.source, "train"), (settings.source, "dev")]
    if settings.evaluate_targets:
        parts += [(code, "test") for code in (settings.source, *settings.targets)]
    if settings.few_shot_language is not None:
        parts.append((settings.few_shot_language, "train"))
    return (source or Source.of(settings, settings.task)).hashes(parts)


def nlu_source(settings: NLUSettings) -> Source:
    """Return what a trial reads: artificial sentences are requests, which have intents."""
    return Source.of(settings, "SF", kind="requests")


def nlu_hashes(settings: NLUSettings) -> dict[str, str]:
    """Return the content hash of every data set that a trial with these settings reads.

    Raises:
        DataError: if a file that the user supplies is missing.
        SettingsError: for an unknown corpus or unknown vectors.
    """
    tests = [(code, "test") for code in (settings.source, *settings.targets)]
    trained = [(settings.source, "train"), (settings.source, "dev")]
    return nlu_source(settings).hashes([*trained, *tests])


def mbert_source(settings: MbertSettings) -> Source:
    """Return the sentences that a trial reads; M-BERT stands in the place of word vectors."""
    return Source.of(settings, settings.task, vectors_name=None)


def mbert_hashes(settings: MbertSettings) -> dict[str, str]:
    """Return what identifies every data set that a trial reads, and its checkpoint."""
    return data_hashes(settings, mbert_source(settings))
