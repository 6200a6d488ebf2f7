"""Zero-shot evaluation over the languages of Table 2 against one epoch of English training.

Both on the open data, by the taggers of ``word_order/table2``: 29 of the table's 31 languages have
open word vectors (not Japanese and Latin). The evaluation looks up the whole vocabulary of each
test set and predicts it; files are parsed and vectors opened beforehand.

Encoders have the sizes of the open preset, and those of the paper: looking up the vocabulary costs
the same at both, so that it weighs less where the model is larger.
"""

from functools import partial

from benchmarks.timing import Result, interleaved_medians, torch_threads
from xlrepro.experiments import experiment
from xlrepro.papers.word_order.model import make_tagger
from xlrepro.papers.word_order.run import trained
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import UPOS, encoded, score, split_of
from xlrepro.training.batches import predicted_tags
from xlrepro.trials import TrialContext

ENCODERS = ("BiLSTM", "TRS")
REPETITIONS = 2


def measure(device: str, threads: int, profile: str = "open") -> list[Result]:
    """Time an epoch and an evaluation in turns, for each encoder and size.

    Args:
        device: ``"cpu"`` or ``"cuda"``.
        threads: of torch.
        profile: whose data, and which sizes beside the paper's.

    Raises:
        DataError: where the open data or its word vectors are not there.
    """
    return [
        _measure_one(name, sizes, device, threads, profile)
        for sizes in (profile, "paper")
        for name in ENCODERS
    ]


def _measure_one(name: str, sizes: str, device: str, threads: int, profile: str) -> Result:
    (trial,) = experiment("word_order/table2").trials(profile, [f"word:{name}"], [0])
    (sized,) = experiment("word_order/table2").trials(sizes, [f"word:{name}"], [0])
    encoder = sized.typed(TaggingSettings).encoder
    settings = trial.typed(TaggingSettings).model_copy(update={"epochs": 1, "encoder": encoder})
    source = Source.of(settings, "POS")
    lookup = source.vectors
    tests = {code: source.sentences(code, "test") for code in source.languages}
    train, _ = (split_of(source, settings.source, split).encoded for split in ("train", "dev"))
    tagger = make_tagger(settings.encoder, lookup.dim, len(UPOS), settings.head).to(device)

    def evaluate() -> None:
        for code, sentences in tests.items():
            test = encoded(sentences, code, "POS", UPOS, lookup)
            score("POS", test.gold, predicted_tags(tagger, test.encoded, device), UPOS)

    with torch_threads(threads):
        medians = interleaved_medians(
            {"epoch": partial(_epoch, settings, source, device), "evaluation": evaluate},
            REPETITIONS,
            device,
            warmup=0,
        )
    tokens = sum(len(s.tokens) for sentences in tests.values() for s in sentences)
    return Result(
        benchmark=f"zero-shot evaluation, {name}, {sizes} sizes",
        case=f"{len(tests)} languages, {tokens} test tokens, looked up and tagged",
        device=device,
        threads=threads,
        value=medians["evaluation"],
        unit="s",
        repetitions=REPETITIONS,
        peer=f"one training epoch, {sum(map(len, train.rows))} tokens",
        peer_value=medians["epoch"],
        ratio=medians["epoch"] / medians["evaluation"],
        target="less time than one training epoch",
        met=medians["evaluation"] < medians["epoch"],
        tokens_per_second=tokens / medians["evaluation"],
    )


def _epoch(settings: TaggingSettings, source: Source, device: str) -> None:
    """Train one epoch; its one look at English dev, which selection needs, is part of it."""
    trained(settings, source, 0, TrialContext(device=device))
