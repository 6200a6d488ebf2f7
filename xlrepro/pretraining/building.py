"""Builds a BERT: text, vocabulary, training, held-out accuracy. Every part resumes after a kill."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xlrepro.artefacts import say
from xlrepro.errors import DeviceError
from xlrepro.nn.bert import MaskedLanguageModel
from xlrepro.paths import cache_dir
from xlrepro.pretraining import training
from xlrepro.pretraining.recipes import recipe_hash
from xlrepro.pretraining.settings import LANGUAGES, PretrainingSettings, preset
from xlrepro.pretraining.text import lines
from xlrepro.pretraining.wordpiece import SPECIAL, WordPiece, learn_vocabulary
from xlrepro.training.masking import mask_pieces
from xlrepro.training.settings import computing

EVALUATION_SEED = 0


def work_folder(name: str) -> Path:
    """Return where an unfinished training keeps its text and its checkpoint."""
    return cache_dir() / "pretraining" / f"{name}-{recipe_hash(name)[:16]}"


def build(name: str, target: Path) -> None:
    """Train the model ``name`` and write it into the empty folder ``target``.

    Raises:
        DeviceError: if it needs a GPU and there is none.
    """
    settings = preset(name)
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise DeviceError(
            f"pretraining the BERT {name!r} needs a CUDA GPU: use 'cpu', or run it there"
        )
    with computing(settings.precision):
        _build(settings, work_folder(name), target)


def _build(settings: PretrainingSettings, work: Path, target: Path) -> None:
    prepare_text(settings, work)
    wordpiece = WordPiece((work / "vocab.txt").read_text("utf-8").split("\n")[:-1])
    with np.load(work / "text.npz") as text:
        arrays = {key: text[key] for key in text.files}
    device = "cuda" if settings.device == "cuda" else "cpu"
    sequences = np.concatenate([arrays[f"train/{code}"] for code in LANGUAGES])
    model, progress = training.pretrain(
        sequences, len(wordpiece), settings, work / "checkpoint.pt", device, say
    )
    model = model.cpu().eval()
    held_out = {code: arrays[f"held-out/{code}"] for code in LANGUAGES}
    log = {
        "sizes": model.bert.sizes._asdict(),
        "parameters": sum(p.numel() for p in model.parameters()),
        "vocabulary": len(wordpiece),
        "steps": progress.step,
        "tokens": progress.step * settings.sequences * settings.sizes.positions,
        "text_pieces": {c: int(arrays[f"train/{c}"].size) for c in LANGUAGES},
        "text_words": json.loads((work / "words.json").read_text("utf-8")),
        "seconds": round(progress.seconds, 1),
        "loss_curve": progress.curve(settings.sequences * settings.sizes.positions),
        "accuracy": {c: accuracy(model, held_out[c], len(wordpiece)) for c in LANGUAGES},
    }
    torch.save(model.bert.state_dict(), target / "bert.pt")
    (target / "vocab.txt").write_text("\n".join(wordpiece.vocabulary) + "\n", "utf-8")
    (target / "log.json").write_text(json.dumps(log, indent=1, sort_keys=True) + "\n", "utf-8")


def prepare_text(settings: PretrainingSettings, work: Path) -> None:
    """Write vocabulary and text as pieces into ``work``, unless they are there."""
    if (work / "text.npz").is_file():
        return
    work.mkdir(parents=True, exist_ok=True)
    text = {}
    for code in LANGUAGES:
        text[code] = lines(code, settings)
        if settings.text == "open":
            say(f"pretraining: read {sum(map(len, text[code][0])):,} words of {code}")
    counts = Counter(
        w for training_lines, _ in text.values() for line in training_lines for w in line
    )
    if settings.text == "open":
        counts = Counter({word: n for word, n in counts.items() if n > 1})
    pieces = WordPiece(learn_vocabulary(counts, settings.vocabulary, settings.characters))
    arrays: dict[str, Any] = {}
    for code, (train_lines, held_out) in text.items():
        arrays[f"train/{code}"] = packed(train_lines, pieces, settings.sizes.positions)
        arrays[f"held-out/{code}"] = packed(held_out, pieces, settings.sizes.positions)
    words = {code: sum(map(len, train_lines)) for code, (train_lines, _) in text.items()}
    (work / "vocab.txt").write_text("\n".join(pieces.vocabulary) + "\n", "utf-8")
    (work / "words.json").write_text(json.dumps(words), "utf-8")
    unfinished = work / "text.part.npz"
    np.savez(unfinished, **arrays)
    os.replace(unfinished, work / "text.npz")


def packed(lines: list[list[str]], wordpiece: WordPiece, length: int) -> np.ndarray:
    """Return lines as full sequences: ``[CLS]``, pieces of line after line, ``[SEP]``.

    A line that does not fit goes on in the next sequence; the rest that fills none is left out.

    Returns:
        ``(sequences, length)`` of the smallest integer type
    """
    body = length - 2
    pieces = [n for line in lines for word in line for n in wordpiece.numbers(word)]
    count = len(pieces) // body
    kind = np.uint16 if len(wordpiece) < 2**16 else np.uint32
    sequences = np.empty((count, length), dtype=kind)
    sequences[:, 0] = wordpiece.cls
    sequences[:, 1:-1] = np.array(pieces[: count * body], dtype=kind).reshape(count, body)
    sequences[:, -1] = wordpiece.sep
    return sequences


@torch.inference_mode()
def accuracy(model: MaskedLanguageModel, sequences: np.ndarray, vocabulary: int) -> list[int]:
    """Return ``[right, hidden]`` over the sequences, masked as in training, always alike."""
    if not len(sequences):
        return [0, 0]
    draw = np.random.default_rng(EVALUATION_SEED)
    ids = sequences.astype(np.int64)
    mask = SPECIAL.index("[MASK]")
    masked = mask_pieces(ids, len(SPECIAL), mask, vocabulary, draw)
    right = 0
    for start in range(0, len(ids), 64):
        part = slice(start, start + 64)
        hidden = torch.from_numpy(masked.hidden[part])
        best = model(torch.from_numpy(masked.ids[part]), hidden).argmax(-1)
        right += int((best == torch.from_numpy(ids[part])[hidden]).sum())
    return [right, int(masked.hidden.sum())]
