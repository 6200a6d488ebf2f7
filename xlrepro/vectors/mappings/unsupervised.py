"""Word vectors mapped without any dictionary, as MAN-MoE's authors used them: by MUSE and by UMWE.

Adversarial methods end somewhere whatever the spaces are, with most words near *some* word of the
other space; so their own criterion says little by itself. Two comparisons say whether a map has
collapsed:

* With a dictionary for checking, which learning never sees: precision at 1 under 5 %, the line
  under which Artetxe et al. (2018, §4) count a run as failed.
* Without one: the criterion has not come a quarter of the way from chance to 1. Chance is what
  Procrustes refinement reaches from random rotations of the same spaces. This finds maps of
  unrelated spaces; a wrong map of spaces that are alike may pass it. The quarter was set on
  artificial spaces, before any run on real ones: maps of unrelated spaces came up to 0.11 of the
  way, the known alignments over 0.9.

Vectors of a collapsed map are not handed out.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.linalg import expm
from torch import Tensor
from torch.nn.functional import normalize

from xlrepro.artefacts import built, file_hash, hash_of
from xlrepro.artificial import Family
from xlrepro.errors import XlreproError
from xlrepro.vectors import artificial
from xlrepro.vectors.mappings.adversarial import (
    AdversarialSettings,
    criterion,
    muse,
    nearest_orthogonal,
    umwe,
)
from xlrepro.vectors.mappings.csls import precision_at_1, translate
from xlrepro.vectors.open import lexicon, vectors
from xlrepro.vectors.open.lexicon import centred_unit_rows, pair_rows, unit_rows
from xlrepro.vectors.tables import VectorSet, load_language
from xlrepro.vectors.vec_files import load_vec

VERSION = 3  # raised when the code changes the vectors, or how they are kept
SOURCE = "en"
LEAST_PRECISION = 0.05
LEAST_GAIN = 0.25
CRITERION_WORDS = 2_000  # most frequent words that chance is taken over
STARTS = 3  # random rotations; chance is the best of them
ROUNDS = 5  # of refinement, as many as MUSE does
# Open vectors: a minute per language on one core.
WORDS = 20_000  # most frequent words that maps are learnt from
OPEN = AdversarialSettings(
    hidden=256,
    batch_size=64,
    epochs=5,
    epoch_steps=1_000,
    frequent=WORDS,
    criterion_words=2_500,
    refinement_words=5_000,
)
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


class CollapsedError(XlreproError):
    """A mapping learnt without supervision aligns no better than chance, and was to be used."""


class Space(NamedTuple):
    """A language's words, most frequent first, and their vectors, ``(words, dim)``."""

    words: Sequence[str]
    matrix: np.ndarray


Maps = dict[str, tuple[np.ndarray, str]]  # of a language, and why it has collapsed; "": it has not


def load(name: str, languages: Sequence[str]) -> VectorSet:
    """Return the open vectors of some languages in the English space, learning the maps first.

    The languages' seed dictionaries, which learning does not see, judge the maps.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        languages: codes; English is always among them.

    Raises:
        CollapsedError: if the map of a language collapsed; names it and the number that says so.
        SettingsError: for an unknown language.
        DataError: if a file it is built from cannot be had.
    """
    mapped = sorted({*languages} - {SOURCE})
    spaces = {c: Space(*load_language(vectors.monolingual_folder(c))) for c in (SOURCE, *mapped)}
    recipe = {"languages": {code: hash_of(vectors.mapped_recipe(code)) for code in mapped}}

    def learn() -> Maps:
        frequent = {c: Space(s.words[:WORDS], s.matrix[:WORDS]) for c, s in spaces.items()}
        english, checks = frequent[SOURCE].words, {}
        for code in mapped:
            pairs = lexicon.seed_pairs(code, frozenset(english), frequent[code].words)
            checks[code] = pair_rows(pairs, frequent[code].words, english)
        return learnt_maps(name, frequent, OPEN, checks)

    return _kept(name, spaces, {**_recipe(name, WORDS, OPEN), **recipe}, learn)


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
        CollapsedError: if the map of a language collapsed, by the criterion of MUSE against chance.
        DataError: if a file is missing or malformed.
    """
    whole = load_vec(files, SUPPLIED_WORDS)
    spaces = {
        c: Space(whole.words(c), centred_unit_rows(np.asarray(whole.matrix(c), np.float32)))
        for c in files
    }
    device = "cuda" if torch.cuda.is_available() else "cpu"
    recipe = {"files": {code: file_hash(files[code]) for code in sorted(files)}, "device": device}
    return _kept(
        name,
        spaces,
        {**_recipe(name, SUPPLIED_WORDS, settings), **recipe},
        lambda: learnt_maps(name, spaces, settings, device=device),
    )


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
        CollapsedError: if the map of a language collapsed, by the true dictionary.
    """
    whole = artificial.load(family, codes, dim)
    spaces, checks = {}, {}
    for code in whole.languages:
        spaces[code] = Space(whole.words(code), np.asarray(whole.matrix(code)))
        if code != SOURCE:
            rng = np.random.default_rng([family.seed, *code.encode()])
            spaces[code], _ = turned(spaces[code], NOISE, rng)
            pairs = artificial.dictionary(family, code)
            checks[code] = pair_rows(pairs, spaces[code].words, whole.words(SOURCE))
    return _led(name, spaces, learnt_maps(name, spaces, ARTIFICIAL, checks))


def turned(space: Space, noise: float, rng: np.random.Generator) -> tuple[Space, np.ndarray]:
    """Return a copy of a space: turned, with noise, in another order, spelt the same.

    Args:
        space: the space.
        noise: length of the noise beside vectors of length 1.
        rng: source of chance.

    Returns:
        The copy, and the row of ``space`` that each of its rows translates, int64 ``(words,)``.
    """
    n, dim = space.matrix.shape
    # Frequency ranks of translations are close, not equal.
    order = np.argsort(np.arange(n) + rng.normal(scale=n / 50, size=n), kind="stable")
    shaken = space.matrix[order] + noise * unit_rows(rng.normal(size=(n, dim)))
    rng.random(n)  # smoke's numbers depend on these draws, which once chose spellings
    words = [space.words[row] for row in order]
    return Space(words, centred_unit_rows(shaken @ rotation(dim, rng))), order


def rotation(dim: int, rng: np.random.Generator, angle: float = LARGEST_TURN) -> np.ndarray:
    """Draw a rotation, ``(dim, dim)``, whose largest turn in any plane is ``angle`` (radians).

    At 1.5, nearly a right angle, words are no longer near their translations, and adversarial
    training still finds its way in seconds; from a rotation drawn evenly it often does not.
    """
    skew = rng.normal(size=(dim, dim))
    skew -= skew.T
    return np.asarray(expm(angle * skew / np.linalg.norm(skew, 2)))


def learnt_maps(
    name: str,
    spaces: Mapping[str, Space],
    settings: AdversarialSettings,
    checks: Mapping[str, np.ndarray] | None = None,
    device: str = "cpu",
    seed: int = 0,
) -> Maps:
    """Learn a map per language, by UMWE all at once, by MUSE one after the other.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        spaces: by language, rows of length 1; the others are mapped into the English one.
        settings: of either method.
        checks: per language (row of its space, row of English), ``(pairs, 2)``, which only the
            verdicts look at.
        device: ``"cpu"`` or ``"cuda"``.
        seed: of all chance.

    Returns:
        Per language its map into the English space, ``(dim, dim)``, and why it is none.
    """
    xs = {c: torch.from_numpy(np.array(space.matrix)).to(device) for c, space in spaces.items()}
    y = xs.pop(SOURCE)
    if name == "umwe":
        maps = dict(zip(xs, umwe([*xs.values(), y], settings, seed)[0]))  # English is the last
    else:
        maps = {code: muse(x, y, settings, seed)[0] for code, x in xs.items()}
    return {
        code: (maps[code].cpu().numpy(), collapse(x @ maps[code], y, (checks or {}).get(code)))
        for code, x in xs.items()
    }


@torch.no_grad()
def collapse(x: Tensor, y: Tensor, check: np.ndarray | None = None) -> str:
    """Say why a map has collapsed; ``""``: it has not.

    Args:
        x: mapped vectors, most frequent word first, ``(n, dim)``.
        y: those they were mapped to, ``(m, dim)``.
        check: (row of x, row of y), a dictionary that learning did not see.
    """
    x, y = normalize(x, dim=1), normalize(y, dim=1)
    if check is None:
        value, level = criterion(x, y, CRITERION_WORDS), chance(x, y)
        why = f"mean cosine of translations {value:.3f}, chance {level:.3f}"
        return why if value - level < LEAST_GAIN * (1 - level) else ""
    gold: dict[str, set[str]] = {}
    for row, other in check.tolist():
        gold.setdefault(str(row), set()).add(str(other))
    rows = [[*map(str, range(len(side)))] for side in (x, y)]
    precision, _ = precision_at_1(gold, rows[0], x.cpu().numpy(), rows[1], y.cpu().numpy())
    why = f"P@1 of the checking dictionary is {100 * precision:.1f} %"
    return "" if precision >= LEAST_PRECISION else why


@torch.no_grad()
def chance(x: Tensor, y: Tensor) -> float:
    """Return the criterion that refinement reaches from random rotations, the best of three.

    Args:
        x: rows of length 1, most frequent first, ``(n, dim)``; mapped or not.
        y: likewise, ``(m, dim)``.
    """
    generator = torch.Generator().manual_seed(0)
    x, y = x[:CRITERION_WORDS], y[:CRITERION_WORDS]
    dim, reached = x.shape[1], []
    for _ in range(STARTS):
        w = torch.linalg.qr(torch.randn(dim, dim, generator=generator))[0].to(x.device)
        for _ in range(ROUNDS):
            pairs = translate(x @ w, y).mutual()
            # shape: (dim, pairs) x (pairs, dim)
            w = nearest_orthogonal(x[pairs[:, 0]].T @ y[pairs[:, 1]])
        reached.append(criterion(x @ w, y, CRITERION_WORDS))
    return max(reached)


def _recipe(name: str, words: int, settings: AdversarialSettings) -> dict[str, Any]:
    return {"version": VERSION, "method": name, "words": words, "settings": asdict(settings)}


def _kept(
    name: str, spaces: Mapping[str, Space], recipe: Mapping[str, Any], learn: Callable[[], Maps]
) -> VectorSet:
    """Return languages in the English space, learning their maps if they are not kept."""
    foreign = sorted({*spaces} - {SOURCE})

    def build(folder: Path) -> None:
        maps = learn()
        for code, (w, _) in maps.items():
            np.save(folder / f"{code}.npy", w)
        why = {code: collapsed for code, (_, collapsed) in maps.items()}
        (folder / "collapsed.json").write_text(json.dumps(why), encoding="utf-8")

    folder = built(name, "-".join(foreign), recipe, build)
    why = json.loads((folder / "collapsed.json").read_text(encoding="utf-8"))
    return _led(name, spaces, {code: (np.load(folder / f"{code}.npy"), why[code]) for code in why})


def _led(name: str, spaces: Mapping[str, Space], maps: Maps) -> VectorSet:
    """Return languages in the English space, unless the map of one has collapsed."""
    collapsed = [f"{code} ({why})" for code, (_, why) in maps.items() if why]
    if collapsed:
        raise CollapsedError(
            f"vectors {name!r}: the maps of {', '.join(collapsed)} collapsed, nothing is trained "
            "on them: use vectors 'mapped' or 'dictionary'"
        )
    words = {code: space.words for code, space in spaces.items()}
    matrices = {c: s.matrix if c == SOURCE else s.matrix @ maps[c][0] for c, s in spaces.items()}
    return VectorSet(name, words, matrices, SOURCE)
