"""Numbers and names as prose has them."""

from collections.abc import Sequence

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "id": "Indonesian",
    "it": "Italian", "ja": "Japanese", "jp": "Japanese", "ko": "Korean", "la": "Latin",
    "lv": "Latvian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish",
    "th": "Thai", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def in_words(count: int) -> str:
    """Return a count as prose has it.

    Example:
        >>> in_words(5), in_words(31)
        ('five', '31')
    """
    return WORDS[count] if count < len(WORDS) else str(count)


def enumerated(names: Sequence[str]) -> str:
    """Return names as prose has them; none: nothing.

    Example:
        >>> enumerated(["word", "mbert", "finetune"])
        'word, mbert and finetune'
    """
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last


def minus(first: str, second: str) -> str:
    """Return the name of a difference; names that begin with a hyphen stand in quotes.

    Example:
        >>> minus("ORT", "TRS"), minus("MAN-MoE", "- MoE")
        ('ORT − TRS', 'MAN-MoE − “- MoE”')
    """
    return " − ".join(f"“{name}”" if name.startswith("- ") else name for name in (first, second))


def number(value: float | None, decimals: int = 2, signed: bool = False) -> str:
    """Return a number with a true minus sign and commas; empty for ``None`` and NaN.

    Example:
        >>> number(-1.005, 1), number(4142, 0)
        ('−1.0', '4,142')
    """
    if value is None or value != value:
        return ""
    text = f"{value:+,.{decimals}f}" if signed else f"{value:,.{decimals}f}"
    return (text if text.strip("+-0.") else text.lstrip("+-")).replace("-", "−")
