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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.linalg import expm
from torch import Tensor
from torch.nn.functional import normalize

from xlrepro.artefacts import built, file_hash, hash_of
from xlrepro.artificial import Family
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.vectors import artificial
from xlrepro.vectors.mappings import NAMES
from xlrepro.vectors.mappings.adversarial import (
    CRITERION_WORDS,
    AdversarialSettings,
    criterion,
    muse,
    nearest_orthogonal,
    umwe,
)
from xlrepro.vectors.mappings.csls import translate
from xlrepro.vectors.open import lexicon, vectors
from xlrepro.vectors.open.lexicon import centred_unit_rows, pair_rows, unit_rows
from xlrepro.vectors.open.sources import open_settings
from xlrepro.vectors.tables import VectorSet, load_language
from xlrepro.vectors.vec_files import load_vec

VERSION = 2  # raised when the code changes the vectors
SOURCE = "en"
LEAST_PRECISION = 0.05
LEAST_GAIN = 0.25
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


@dataclass(frozen=True)
class Space:
    """A language's words and their vectors.

    Attributes:
        words: most frequent first.
        matrix: their vectors, rows of length 1, ``(words, dim)``.
    """

    words: Sequence[str]
    matrix: np.ndarray

    def tensor(self, device: str) -> Tensor:
        """Return the vectors on a device."""
        return torch.from_numpy(np.array(self.matrix)).to(device)


@dataclass(frozen=True)
class Verdict:
    """Whether a map has collapsed, and the number that says so, in words."""

    collapsed: bool
    why: str


def load(name: str, languages: Sequence[str]) -> VectorSet:
    """Return the open vectors of some languages in the English space, learning the maps first.

    The languages' seed dictionaries, which learning does not see, judge the maps.

    Raises:
        CollapsedError: if the map of a language collapsed; names it and the number that says so.
        SettingsError: for an unknown name or language.
        DataError: if a file it is built from cannot be had.
    """
    source = open_settings().source
    mapped = sorted(set(languages) - {source})
    own = {code: load_language(vectors.monolingual_folder(code)) for code in (source, *mapped)}
    recipe = _recipe(name, WORDS, OPEN) | {
        "languages": {code: hash_of(vectors.mapped_recipe(code)) for code in mapped}
    }

    def learn() -> dict[str, tuple[np.ndarray, Verdict]]:
        spaces = {c: Space(words[:WORDS], np.array(m[:WORDS])) for c, (words, m) in own.items()}
        english = spaces.pop(source)
        checks = {}
        for code, space in spaces.items():
            pairs = lexicon.seed_pairs(code, frozenset(english.words), space.words)
            checks[code] = pair_rows(pairs, space.words, english.words)
        return learnt_maps(name, spaces, english, OPEN, checks)

    maps = _kept_maps(name, mapped, recipe, learn)
    matrices = {c: np.asarray(m) @ maps[c] if c in maps else m for c, (_, m) in own.items()}
    return VectorSet(name, {code: words for code, (words, _) in own.items()}, matrices, source)


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
        SettingsError: for another name.
    """
    whole = load_vec(files, SUPPLIED_WORDS)
    spaces = {
        code: Space(
            whole.words(code), centred_unit_rows(np.asarray(whole.matrix(code), np.float32))
        )
        for code in files
    }
    english = spaces.pop(SOURCE)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    recipe = _recipe(name, SUPPLIED_WORDS, settings) | {
        "files": {code: file_hash(files[code]) for code in sorted(files)},
        "device": device,
    }
    maps = _kept_maps(
        name,
        sorted(spaces),
        recipe,
        lambda: learnt_maps(name, spaces, english, settings, device=device),
    )
    matrices = {SOURCE: english.matrix}
    matrices |= {code: space.matrix @ maps[code] for code, space in spaces.items()}
    words = {SOURCE: english.words} | {code: space.words for code, space in spaces.items()}
    return VectorSet(name, words, matrices, SOURCE)


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
        SettingsError: for another name.
    """
    _check_name(name)
    whole = artificial.load(family, codes, dim)
    english = Space(whole.words(SOURCE), np.asarray(whole.matrix(SOURCE)))
    spaces, checks = {}, {}
    for code in whole.languages:
        if code != SOURCE:
            rng = np.random.default_rng([family.seed, *code.encode()])
            space = Space(whole.words(code), np.asarray(whole.matrix(code)))
            spaces[code], _ = turned(space, NOISE, rng)
            pairs = artificial.dictionary(family, code)
            checks[code] = pair_rows(pairs, spaces[code].words, english.words)
    maps = learnt_maps(name, spaces, english, ARTIFICIAL, checks)
    _refuse_collapsed(name, {code: verdict for code, (_, verdict) in maps.items()})
    words, matrices = {SOURCE: english.words}, {SOURCE: english.matrix}
    for code, space in spaces.items():
        words[code], matrices[code] = space.words, unit_rows(space.matrix @ maps[code][0])
    return VectorSet(name, words, matrices, SOURCE)


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
    english: Space,
    settings: AdversarialSettings,
    checks: Mapping[str, np.ndarray] | None = None,
    device: str = "cpu",
    seed: int = 0,
) -> dict[str, tuple[np.ndarray, Verdict]]:
    """Learn a map per language, by UMWE all at once, by MUSE one after the other.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        spaces: those that are mapped, by language.
        english: the space that they are mapped into.
        settings: of either method.
        checks: per language (row of its space, row of English), ``(pairs, 2)``, which only the
            verdicts look at.
        device: ``"cpu"`` or ``"cuda"``.
        seed: of all chance.

    Returns:
        Per language its map into the English space, ``(dim, dim)``, and whether it is one.

    Raises:
        SettingsError: for another name.
    """
    _check_name(name)
    y = english.tensor(device)
    xs = {code: space.tensor(device) for code, space in spaces.items()}
    if name == "umwe":
        maps = dict(zip(xs, umwe([*xs.values(), y], settings, seed)[0]))  # English is the last
    else:
        maps = {code: muse(x, y, settings, seed)[0] for code, x in xs.items()}
    return {
        code: (maps[code].cpu().numpy(), judged(x @ maps[code], y, (checks or {}).get(code)))
        for code, x in xs.items()
    }


@torch.no_grad()
def judged(x: Tensor, y: Tensor, check: np.ndarray | None = None) -> Verdict:
    """Say whether a map has collapsed.

    Args:
        x: mapped vectors, most frequent word first, ``(n, dim)``.
        y: those they were mapped to, ``(m, dim)``.
        check: (row of x, row of y), a dictionary that learning did not see.
    """
    x, y = normalize(x, dim=1), normalize(y, dim=1)
    if check is not None:
        precision = checked_precision(x, y, check)
        why = f"P@1 of the checking dictionary is {100 * precision:.1f} %"
        return Verdict(not precision >= LEAST_PRECISION, why)
    value, level = criterion(x, y), chance(x, y)
    why = f"mean cosine of translations {value:.3f}, chance {level:.3f}"
    return Verdict(value - level < LEAST_GAIN * (1 - level), why)


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
        start = torch.linalg.qr(torch.randn(dim, dim, generator=generator))[0]
        w = start.to(x.device)
        for _ in range(ROUNDS):
            pairs = translate(x @ w, y).mutual()
            # shape: (dim, pairs) x (pairs, dim)
            w = nearest_orthogonal(x[pairs[:, 0]].T @ y[pairs[:, 1]])
        reached.append(criterion(x @ w, y))
    return max(reached)


@torch.no_grad()
def checked_precision(x: Tensor, y: Tensor, check: np.ndarray) -> float:
    """Return the share of a dictionary's words of x whose best translation by CSLS is in it.

    Args:
        x: mapped, rows of length 1, ``(n, dim)``.
        y: likewise, ``(m, dim)``.
        check: (row of x, row of y).

    Returns:
        0 to 1; nan where the dictionary is empty.
    """
    gold: dict[int, set[int]] = {}
    for row, other in np.asarray(check, dtype=np.int64).reshape(-1, 2).tolist():
        gold.setdefault(row, set()).add(other)
    if not gold:
        return float("nan")
    best = translate(x, y).forward.tolist()
    return sum(best[row] in rows for row, rows in gold.items()) / len(gold)


def _kept_maps(
    name: str,
    foreign: Sequence[str],
    recipe: Mapping[str, Any],
    learn: Callable[[], dict[str, tuple[np.ndarray, Verdict]]],
) -> dict[str, np.ndarray]:
    """Return the maps of languages into the English space, learning them if they are not kept."""

    def build(folder: Path) -> None:
        maps = learn()
        for code, (w, _) in maps.items():
            np.save(folder / f"{code}.npy", w)
        verdicts = {code: asdict(verdict) for code, (_, verdict) in maps.items()}
        (folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1), encoding="utf-8")

    folder = built(name, "-".join(foreign), recipe, build)
    verdicts = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    _refuse_collapsed(name, {code: Verdict(**values) for code, values in verdicts.items()})
    return {code: np.load(folder / f"{code}.npy") for code in foreign}


def _refuse_collapsed(name: str, verdicts: Mapping[str, Verdict]) -> None:
    collapsed = [f"{code} ({v.why})" for code, v in verdicts.items() if v.collapsed]
    if collapsed:
        raise CollapsedError(
            f"vectors {name!r}: the maps of {', '.join(collapsed)} collapsed, nothing is trained "
            "on them: use vectors 'mapped' or 'dictionary'"
        )


def _recipe(name: str, words: int, settings: AdversarialSettings) -> dict[str, Any]:
    _check_name(name)
    return {"version": VERSION, "method": name, "words": words, "settings": asdict(settings)}


def _check_name(name: str) -> None:
    if name not in NAMES:
        raise SettingsError(f"no vectors without a dictionary are called {name!r}: {NAMES}")
