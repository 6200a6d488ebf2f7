"""The benchmarks, from the files that the benchmark harness writes."""


def benchmark_tables() -> str:
    """Return a table per benchmark file as HTML."""
    return ""
