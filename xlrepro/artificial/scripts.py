"""Sounds and how scripts write them: invented syllables in ten scripts.

A word is a tuple of syllables, a syllable is (onset, vowel, coda). The sounds are the same in all
scripts, so that a name or a cognate keeps its sound where the writing changes.
"""

from collections.abc import Callable

Syllable = tuple[str, str, str]
Word = tuple[Syllable, ...]


def _table(sounds: tuple[str, ...], letters: str) -> dict[str, str]:
    """Pair sounds with letters separated by spaces."""
    return dict(zip(sounds, letters.split(), strict=True))


ONSETS = (
    "p",
    "b",
    "t",
    "d",
    "k",
    "g",
    "m",
    "n",
    "s",
    "z",
    "l",
    "r",
    "v",
    "f",
    "h",
    "j",
    "sh",
    "ch",
)
VOWELS = ("a", "e", "i", "o", "u")
CODAS = ("n", "s", "r", "l", "t", "k", "m")

_CYRILLIC = _table((*ONSETS, *VOWELS), "п б т д к г м н с з л р в ф х й ш ч а е и о у")
_GREEK = _table((*ONSETS, *VOWELS), "π μπ τ ντ κ γ μ ν σ ζ λ ρ β φ χ γι σσ τσ α ε ι ο ου")
_HEBREW = _table((*ONSETS, *VOWELS), "פ ב ת ד כ ג מ נ ס ז ל ר ו פ ה י ש צ א ע י ו ו")
_ARABIC = _table((*ONSETS, *VOWELS), "پ ب ت د ك ج م ن س ز ل ر ڤ ف ه ي ش چ ا ة ي و و")
_ARABIC["e"], _ARABIC["o"] = "ى", "ؤ"
_DEVANAGARI = _table(ONSETS, "प ब त द क ग म न स ज़ ल र व फ ह य श च")
_DEVANAGARI_SIGNS = dict(zip(VOWELS, ("", "े", "ि", "ो", "ु")))
_DEVANAGARI_VOWELS = dict(zip(VOWELS, "अएइओउ"))
_THAI = _table(ONSETS, "พ บ ต ด ก ค ม น ส ซ ล ร ว ฟ ห ย ษ จ")
_THAI_VOWELS = dict(zip(VOWELS, ("า", "ะ", "ิ", "ุ", "ู")))
# Positions in the Unicode Hangul block: 588 * initial + 28 * medial + final + 0xAC00.
_HANGUL_ONSETS = dict(zip(ONSETS, (17, 7, 16, 3, 15, 0, 6, 2, 9, 13, 5, 5, 8, 17, 18, 12, 10, 14)))
_HANGUL_VOWELS = dict(zip(VOWELS, (0, 5, 20, 8, 13)))
_HANGUL_CODAS = {"": 0, "n": 4, "s": 19, "r": 8, "l": 8, "t": 25, "k": 1, "m": 16}
_HIRAGANA_ROWS = {
    "": "あえいおう",
    "k": "かけきこく",
    "g": "がげぎごぐ",
    "s": "させしそす",
    "z": "ざぜじぞず",
    "t": "たてちとつ",
    "d": "だでぢどづ",
    "n": "なねにのぬ",
    "h": "はへひほふ",
    "b": "ばべびぼぶ",
    "p": "ぱぺぴぽぷ",
    "m": "まめみもむ",
    "r": "られりろる",
    "j": "やえいよゆ",
}
_HIRAGANA_MERGED = {"l": "r", "v": "b", "f": "h", "sh": "s", "ch": "t"}


def _alphabet(letters: dict[str, str] | None = None) -> Callable[[Word], str]:
    """Return a writer that maps sounds to letters; sounds without a letter stay as they are."""
    known = letters or {}

    def write(word: Word) -> str:
        return "".join(known.get(sound, sound) for syllable in word for sound in syllable)

    return write


def _devanagari(word: Word) -> str:
    written = []
    for onset, vowel, coda in word:
        if onset:
            written.append(_DEVANAGARI[onset] + _DEVANAGARI_SIGNS[vowel])
        else:
            written.append(_DEVANAGARI_VOWELS[vowel])
        if coda:
            written.append(_DEVANAGARI[coda] + "्")
    return "".join(written)


def _thai(word: Word) -> str:
    return "".join(
        _THAI.get(onset, "อ") + _THAI_VOWELS[vowel] + _THAI.get(coda, "")
        for onset, vowel, coda in word
    )


def _hangul(word: Word) -> str:
    return "".join(
        chr(
            0xAC00
            + 588 * _HANGUL_ONSETS.get(onset, 11)
            + 28 * _HANGUL_VOWELS[vowel]
            + _HANGUL_CODAS[coda]
        )
        for onset, vowel, coda in word
    )


def _hiragana(word: Word) -> str:
    written = []
    for onset, vowel, coda in word:
        row = _HIRAGANA_ROWS[_HIRAGANA_MERGED.get(onset, onset)]
        written.append(row[VOWELS.index(vowel)] + ("ん" if coda in ("n", "m") else ""))
    return "".join(written)


def _han(word: Word) -> str:
    onsets, codas = ("", *ONSETS), ("", *CODAS)
    characters = []
    for onset, vowel, coda in word:
        syllable = (onsets.index(onset) * 5 + VOWELS.index(vowel)) * 8 + codas.index(coda)
        # 760 syllables * 17 < 20,000 characters of the block: each has a character of its own.
        characters.append(chr(0x4E00 + syllable * 17))
    return "".join(characters)


SCRIPTS: dict[str, Callable[[Word], str]] = {
    "latin": _alphabet(),
    "cyrillic": _alphabet(_CYRILLIC),
    "greek": _alphabet(_GREEK),
    "hebrew": _alphabet(_HEBREW),
    "arabic": _alphabet(_ARABIC),
    "devanagari": _devanagari,
    "thai": _thai,
    "hangul": _hangul,
    "hiragana": _hiragana,
    "han": _han,
}
# Scripts without letters for single consonants: suffixes are whole syllables there.
SYLLABIC = frozenset({"devanagari", "thai", "hangul", "hiragana", "han"})
