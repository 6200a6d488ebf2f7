"""Vectors written as fastText writes them."""


def write_vec(path, words, rows):
    """Write a row of numbers per word below a line that says how many there are."""
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(words, rows, strict=True)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"{len(words)} {len(rows[0])}", *lines, ""]), "utf-8")
