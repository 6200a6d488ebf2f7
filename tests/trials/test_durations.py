import pytest

from xlrepro.trials import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (42, "42 s"),
        (59.9, "59.9 s"),
        (60, "1 min"),
        (3599, "1 h 0 min"),
        (7380, "2 h 3 min"),
    ],
)
def test_durations_are_for_people(seconds, text):
    assert duration(seconds) == text
