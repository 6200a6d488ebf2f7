"""Times for people."""


def duration(seconds: float) -> str:
    """Return a time for people; whole seconds where they are given as such.

    Example:
        >>> duration(6.62), duration(42), duration(5025)
        ('6.6 s', '42 s', '1 h 24 min')
    """
    if seconds < 60:
        return f"{seconds} s" if isinstance(seconds, int) else f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
