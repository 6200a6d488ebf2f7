"""Sample sentences of the artificial languages, word by word."""

from html import escape

from xlrepro.artificial.gloss import GlossedMeaning, GlossedSentence, gloss_examples

CODES = ("en", "de", "ja", "ar")


def gloss_html() -> str:
    """Return sample sentences in four languages, glossed, as HTML."""
    return "\n".join(_meaning(example) for example in gloss_examples(CODES))


def _meaning(example: GlossedMeaning) -> str:
    said = "\n".join(_sentence(sentence) for sentence in example.sentences)
    return f'<div class="xl-gloss">\n<p>{escape(example.translation)}</p>\n{said}\n</div>\n'


def _sentence(sentence: GlossedSentence) -> str:
    pairs = zip(sentence.tokens, sentence.glosses, strict=True)
    words = "".join(
        f'<span class="xl-gloss-word"><span lang="x-{sentence.code}">{escape(token)}</span>'
        f"<span>{escape(meaning)}</span></span>"
        for token, meaning in pairs
    )
    name = f"{sentence.code}, {sentence.order}"
    return (
        f'<div class="xl-gloss-line"><span class="xl-gloss-word"><strong>{escape(name)}</strong>'
        f"<span>artificial</span></span>{words}</div>"
    )
