"""Word vectors mapped without any dictionary, as MAN-MoE's authors used them: by MUSE and by UMWE.

Adversarial methods end somewhere whatever the spaces are, with most words near *some* word of the
other space; so their own criterion says little by itself. A map has collapsed if the criterion has
not come a quarter of the way from chance to 1. Chance is what Procrustes refinement reaches from
random rotations of the same spaces. This finds maps of unrelated spaces; a wrong map of spaces that
are alike may pass it. The quarter was set on artificial spaces, before any run on real ones: maps
of unrelated spaces came up to 0.11 of the way, the known alignments over 0.9. Vectors of a
collapsed map are not handed out.

On open text the maps of all languages that were tried collapsed: vectors mapped without a
dictionary are made of artificial languages and of files that a user supplies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy.linalg import expm
from torch import Tensor
from torch.nn.functional import normalize

from xlrepro.artefacts import built, file_hash
from xlrepro.artificial import Family
from xlrepro.errors import XlreproError
from xlrepro.vectors import artificial
from xlrepro.vectors.mappings import adversarial
from xlrepro.vectors.mappings.adversarial import AdversarialSettings
from xlrepro.vectors.mappings.csls import mutual
from xlrepro.vectors.open.lexicon import centred_unit_rows, unit_rows
from xlrepro.vectors.tables import VectorSet
from xlrepro.vectors.vec_files import load_vec

VERSION = 4  # raised when the code changes the vectors, or how they are kept
SOURCE = "en"
LEAST_GAIN = 0.25
CRITERION_WORDS = 2_000  # most frequent words that chance is taken over
STARTS = 3  # random rotations; chance is the best of them
ROUNDS = 5  # of refinement, as many as MUSE does
SUPPLIED = AdversarialSettings()
SUPPLIED_WORDS = 200_000  # of each file (authors' code, options.py:167-208)
# Artificial languages: sizes that find the alignment in seconds.
ARTIFICIAL = AdversarialSettings(
    hidden=64,
    batch_size=64,
    epochs=3,
    epoch_steps=100,
    learning_rate=0.2,
    criterion_words=300,
    refinement_words=500,
    refinements=3,
)
NOISE = 0.1  # length of the noise beside vectors of length 1
LARGEST_TURN = 1.5  # radians


class Space(NamedTuple):
    """A language's words, most frequent first, and their vectors, ``(words, dim)``."""

    words: Sequence[str]
    matrix: np.ndarray


def load_supplied(
    name: str, files: Mapping[str, Path], settings: AdversarialSettings = SUPPLIED
) -> VectorSet:
    """Return vectors of a user's own ``.vec`` files in the English space, learning the maps first.

    As MAN-MoE's authors made theirs: fastText's vectors of each language's Wikipedia, here with the
    sizes and rates of Conneau et al. (2018). They are centred and of length 1 before mapping, as
    all our spaces are. Learning takes a GPU where this process sees one; a trial that was told to
    use the CPU sees none. The maps are kept, per kind of device, by the content of the files.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        files: language to ``.vec`` file, English among them.
        settings: of either method.

    Raises:
        XlreproError: if the map of a language collapsed; names it and the number that says so.
        DataError: if a file is missing or malformed.
    """
    whole = load_vec(files, SUPPLIED_WORDS)
    raw = {code: np.asarray(whole.matrix(code), np.float32) for code in files}
    spaces = {code: Space(whole.words(code), centred_unit_rows(x)) for code, x in raw.items()}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    hashes = {code: file_hash(files[code]) for code in sorted(files)}
    recipe = {"version": VERSION, "method": name, "words": SUPPLIED_WORDS}
    recipe |= {"settings": asdict(settings), "files": hashes, "device": device}

    def build(folder: Path) -> None:
        maps = learnt_maps(name, spaces, settings, device)
        np.savez(folder / "maps.npz", **maps)  # type: ignore[arg-type]

    folder = built(name, "-".join(sorted({*files} - {SOURCE})), recipe, build)
    return _led(name, spaces, np.load(folder / "maps.npz"))


def load_artificial(name: str, family: Family, codes: Sequence[str], dim: int = 50) -> VectorSet:
    """Make vectors for artificial languages, mapped without a dictionary; seconds, not cached.

    Each language's own space is its dictionary vectors, turned and with noise, so that there is an
    alignment to be found. What the methods do with it is real: they see no dictionary.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        family: the languages' family.
        codes: the languages; English is always among them.
        dim: dimensions of the vectors.

    Raises:
        XlreproError: if the map of a language collapsed.
    """
    whole = artificial.load(family, codes, dim)
    spaces = {}
    for code in whole.languages:
        spaces[code] = Space(whole.words(code), np.asarray(whole.matrix(code)))
        if code != SOURCE:
            rng = np.random.default_rng([family.seed, *code.encode()])
            spaces[code], _ = turned(spaces[code], rng)
    return _led(name, spaces, learnt_maps(name, spaces, ARTIFICIAL))


def turned(space: Space, rng: np.random.Generator) -> tuple[Space, np.ndarray]:
    """Return a copy of a space: turned, with noise, in another order, spelt the same.

    Args:
        space: the space.
        rng: source of chance.

    Returns:
        The copy, and the row of ``space`` that each of its rows translates, int64 ``(words,)``.
    """
    n, dim = space.matrix.shape
    # Frequency ranks of translations are close, not equal.
    order = np.argsort(np.arange(n) + rng.normal(scale=n / 50, size=n), kind="stable")
    shaken = space.matrix[order] + NOISE * unit_rows(rng.normal(size=(n, dim)))
    rng.random(n)  # smoke's numbers depend on these draws, which once chose spellings
    words = [space.words[row] for row in order]
    return Space(words, centred_unit_rows(shaken @ rotation(dim, rng))), order


def rotation(dim: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a rotation, ``(dim, dim)``, whose largest turn in any plane is ``LARGEST_TURN``.

    At 1.5, nearly a right angle, words are no longer near their translations, and adversarial
    training still finds its way in seconds; from a rotation drawn evenly it often does not.
    """
    skew = rng.normal(size=(dim, dim))
    skew -= skew.T
    return np.asarray(expm(LARGEST_TURN * skew / np.linalg.norm(skew, 2)))


def learnt_maps(
    name: str, spaces: Mapping[str, Space], settings: AdversarialSettings, device: str = "cpu"
) -> dict[str, np.ndarray]:
    """Learn a map per language, by UMWE all at once, by MUSE one after the other.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        spaces: by language, rows of length 1; the others are mapped into the English one.
        settings: of either method.
        device: ``"cpu"`` or ``"cuda"``.

    Returns:
        Per language its map into the English space, ``(dim, dim)``.
    """
    xs = {c: torch.from_numpy(np.array(space.matrix)).to(device) for c, space in spaces.items()}
    y = xs.pop(SOURCE)
    if name == "umwe":
        of_all = adversarial.umwe([*xs.values(), y], settings)  # English is the last
        maps = dict(zip(xs, of_all))
    else:
        maps = {code: adversarial.muse(x, y, settings) for code, x in xs.items()}
    return {code: w.cpu().numpy() for code, w in maps.items()}


@torch.no_grad()
def collapse(x: Tensor, y: Tensor) -> str:
    """Say why a map has collapsed; ``""``: it has not.

    Args:
        x: mapped vectors, most frequent word first, ``(n, dim)``.
        y: those they were mapped to, ``(m, dim)``.
    """
    x, y = (normalize(side[:CRITERION_WORDS], dim=1) for side in (x, y))
    value, level = adversarial.criterion(x, y, CRITERION_WORDS), chance(x, y)
    why = f"mean cosine of translations {value:.3f}, chance {level:.3f}"
    return why if value - level < LEAST_GAIN * (1 - level) else ""


@torch.no_grad()
def chance(x: Tensor, y: Tensor) -> float:
    """Return the criterion that refinement reaches from random rotations, the best of three.

    Args:
        x: rows of length 1, most frequent first, ``(n, dim)``; mapped or not.
        y: likewise, ``(m, dim)``.
    """
    generator = torch.Generator().manual_seed(0)
    dim, reached = x.shape[1], []
    for _ in range(STARTS):
        w = torch.linalg.qr(torch.randn(dim, dim, generator=generator))[0].to(x.device)
        for _ in range(ROUNDS):
            pairs = mutual(x @ w, y)
            # shape: (dim, pairs) x (pairs, dim)
            w = adversarial.nearest_orthogonal(x[pairs[:, 0]].T @ y[pairs[:, 1]])
        reached.append(adversarial.criterion(x @ w, y, CRITERION_WORDS))
    return max(reached)


def _led(name: str, spaces: Mapping[str, Space], maps: Mapping[str, np.ndarray]) -> VectorSet:
    """Return languages in the English space, unless the map of one has collapsed."""
    matrices = {c: s.matrix if c == SOURCE else s.matrix @ maps[c] for c, s in spaces.items()}
    tops = {c: torch.from_numpy(np.array(m[:CRITERION_WORDS])) for c, m in matrices.items()}
    why = {c: collapse(top, tops[SOURCE]) for c, top in tops.items() if c != SOURCE}
    collapsed = [f"{code} ({reason})" for code, reason in why.items() if reason]
    if collapsed:
        raise XlreproError(
            f"vectors {name!r}: the maps of {', '.join(collapsed)} collapsed, nothing is trained "
            "on them: use vectors 'mapped' or 'dictionary'"
        )
    return VectorSet(name, {c: s.words for c, s in spaces.items()}, matrices, SOURCE)
