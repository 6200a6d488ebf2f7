"""Which pieces of a text are read, and which say nothing."""

from types import SimpleNamespace

import pytest

from xlrepro.papers.ramen.reading import Reader

MARKER = 9
PIECES = {"ab": [MARKER, 1, 2], "c": [3], "d": [4, 5]}


def reader(positions):
    return Reader(
        identity=str,
        network=lambda _: SimpleNamespace(sizes=SimpleNamespace(positions=positions)),
        numbers=lambda _: PIECES.__getitem__,
        begin=lambda _: 7,
        end=lambda _: 8,
        first=lambda pieces: int(pieces[0] == MARKER),
    )


@pytest.mark.parametrize(
    ("positions", "words", "ids", "places"),
    [
        (20, ["c", "ab", "d"], [7, 3, 9, 1, 2, 4, 5, 8], [1, 3, 4, 5, 6]),
        (6, ["c", "ab", "d"], [7, 3, 9, 1, 2, 8], [1, 3, 4]),
        (4, ["c", "ab"], [7, 3, 9, 8], [1]),
        (20, [], [7, 8], [0]),
    ],
)
def test_a_marker_that_stands_alone_is_not_read(positions, words, ids, places):
    assert reader(positions).framed("zh", words) == (ids, places)
