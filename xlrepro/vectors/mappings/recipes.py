"""What decides maps that are learnt without a dictionary: settings and recipes, without torch."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.errors import SettingsError
from xlrepro.vectors.open import vectors as open_vectors
from xlrepro.vectors.open.settings import open_settings


@dataclass(frozen=True)
class AdversarialSettings:
    """Settings of adversarial training; the defaults are those of Conneau et al. (2018), §3.

    Attributes:
        hidden: units of the discriminator's two hidden layers.
        input_dropout: of the discriminator.
        smoothing: how far its labels are from 0 and 1.
        batch_size: words of each language per step.
        epochs: after each the criterion is taken.
        epoch_steps: updates of the maps per epoch. (The text gives no length of an epoch; a
            million words is our reading of its cost: 31,250 steps x 32 words.)
        discriminator_steps: updates of the discriminator per update of the maps.
        learning_rate: of plain SGD, on both sides.
        decay: of the learning rate, per epoch.
        shrink: factor of the learning rate when the criterion falls.
        beta: of the orthogonality update (Eq. 7).
        frequent: most frequent words that the discriminator sees.
        criterion_words: most frequent words that the criterion is taken over.
        refinements: rounds of refinement after it.
        refinement_words: most frequent words that the dictionary of a refinement comes from.
    """

    hidden: int = 2048
    input_dropout: float = 0.1
    smoothing: float = 0.2
    batch_size: int = 32
    epochs: int = 5
    epoch_steps: int = 31_250
    discriminator_steps: int = 1
    learning_rate: float = 0.1
    decay: float = 0.95
    shrink: float = 0.5
    beta: float = 0.01
    frequent: int = 50_000
    criterion_words: int = 10_000
    refinements: int = 5
    refinement_words: int = 15_000


NAMES = ("muse", "umwe")
VERSION = 1  # raised when the code changes the vectors
SEED = 0
WORDS = 20_000  # most frequent words that maps are learnt from
# As in the open preset of man_moe/mappings: a minute per language on one core.
SETTINGS = AdversarialSettings(
    hidden=256,
    batch_size=64,
    epochs=5,
    epoch_steps=1_000,
    frequent=WORDS,
    criterion_words=2_500,
    refinement_words=5_000,
)


def recipe(name: str, languages: Sequence[str]) -> dict[str, Any]:
    """Return what decides the maps of some languages; builds and downloads nothing.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        languages: all of them, English among them or not.

    Raises:
        SettingsError: for another name.
    """
    return common_recipe(name, WORDS, SETTINGS) | {
        # A mapped recipe names the vectors of both languages and the checking dictionary.
        "languages": {
            code: hash_of(open_vectors.mapped_recipe(code)) for code in foreign(languages)
        },
    }


def recipe_hash(name: str, languages: Sequence[str]) -> str:
    """Return the hash of :func:`recipe`."""
    return hash_of(recipe(name, languages))


def common_recipe(name: str, words: int, settings: AdversarialSettings) -> dict[str, Any]:
    """Return what decides maps whatever vectors they map.

    Args:
        name: ``"muse"`` or ``"umwe"``.
        words: most frequent words that they are learnt from.
        settings: of either method.

    Raises:
        SettingsError: for another name.
    """
    check_name(name)
    return {
        "version": VERSION,
        "method": name,
        "words": words,
        "seed": SEED,
        "settings": asdict(settings),
    }


def check_name(name: str) -> None:
    """Refuse what is not one of ``NAMES``.

    Raises:
        SettingsError: naming them.
    """
    if name not in NAMES:
        raise SettingsError(f"no vectors without a dictionary are called {name!r}: {NAMES}")


def foreign(languages: Sequence[str]) -> list[str]:
    """Return the languages but English, sorted: those that are mapped."""
    return sorted(set(languages) - {open_settings().source})
