"""A main iteration of MAN-MoE on named entities, beside the plain loop of ``man_moe_loop.py``.

On a machine that is busy with other work, two threads wait for each other longer than they compute:
measure with ``OMP_WAIT_POLICY=PASSIVE`` there, as was done for the numbers in the repository.
"""

from collections.abc import Callable

import numpy as np
import torch

from benchmarks.man_moe_loop import LoopManMoe, LoopTrainer
from benchmarks.timing import Result, beside_peer, interleaved_medians, torch_threads
from xlrepro.papers.man_moe.encoding import CharacterIds, EncodedTexts, WordTable
from xlrepro.papers.man_moe.model import ManMoe
from xlrepro.papers.man_moe.settings import ModelSettings, TransferSettings
from xlrepro.papers.man_moe.training import TrainingTexts, TransferLearner

LANGUAGES = ("en", "de", "es", "nl")  # the last one is the target
SENTENCES, WORDS, VECTOR_DIM, LABELS = 400, 3000, 300, 9
REPETITIONS = {"cpu": 5, "cuda": 20}
WANTED = {"cpu": 3.0, "cuda": 6.0}
SETTINGS = TransferSettings(
    task="NER",
    corpus="conll-ner",  # random text of its lengths, made below
    vectors="dictionary",
    languages=LANGUAGES,
    targets=LANGUAGES[-1:],
    model=ModelSettings(characters=True),  # sizes and dropout: the paper's
    lambda1=0.0001,
    lambda2=0.01,
    discriminator_steps=1,
    batch_size=16,
    epochs=1,
)


def measure(device: str, threads: int) -> list[Result]:
    """Time one main iteration of each on the same batches, in turns."""
    with torch_threads(threads):
        torch.manual_seed(0)
        texts, characters = invented_texts(np.random.default_rng(0))
        table = texts.table.to(device)
        model = ManMoe(SETTINGS.model, VECTOR_DIM, characters, len(LANGUAGES) - 1, LABELS)
        model = model.to(device).train()
        ours = TransferLearner(model, texts, SETTINGS, 1, lambda: 0.0, device)
        batches = ours.drawn()
        peer = LoopManMoe(model, SETTINGS.model.dropout).to(device).train()
        loop = LoopTrainer(peer, table, SETTINGS)
        functions: dict[str, Callable[[], object]] = {
            "ours": lambda: ours.step(batches),
            "loop": lambda: loop.step(batches),
        }
        medians = interleaved_medians(functions, REPETITIONS[device], device, warmup=1)
    beside_the_loop = beside_peer(
        "MAN-MoE, main iteration",
        "NER: 4 languages, batches of 16, CharCNN, k = 1, the paper's sizes",
        medians,
        ("loop", "language by language, expert by expert"),
        (device, threads, REPETITIONS[device]),
        least=WANTED[device],
        tokens=batches.tokens,
    )
    return [beside_the_loop]


def invented_texts(generator: np.random.Generator) -> tuple[TrainingTexts, int]:
    """Return random texts with CoNLL's lengths, and the number of character ids.

    About 14.5 tokens a sentence, words of 2 to 14 letters, frequencies by Zipf's law.
    """
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    spellings = [
        "".join(generator.choice(list(letters), size=int(generator.integers(2, 15))))
        for _ in range(WORDS)
    ]
    ids = CharacterIds(spellings)
    padded = torch.nn.utils.rnn.pad_sequence(
        [torch.zeros(1, dtype=torch.long), *(torch.tensor(ids.spell(w)) for w in spellings)],
        batch_first=True,
    )
    vectors = torch.randn(WORDS + 1, VECTOR_DIM)
    vectors[0] = 0
    table = WordTable({}, vectors, torch.arange(WORDS + 1), padded)
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    labelled, unlabelled = [], []
    for number in range(len(LANGUAGES)):
        lengths = np.clip(generator.gamma(2.0, 7.25, SENTENCES).astype(int), 2, 60)
        order = torch.from_numpy(generator.permutation(WORDS) + 1)
        rows = [order[generator.choice(WORDS, size=n, p=shares)] for n in lengths.tolist()]
        gold = [torch.from_numpy(generator.integers(0, LABELS, n)) for n in lengths.tolist()]
        unlabelled.append(EncodedTexts(number, rows))
        if number < len(LANGUAGES) - 1:
            labelled.append(EncodedTexts(number, rows, gold))
    return TrainingTexts(table, labelled, unlabelled), len(ids)
