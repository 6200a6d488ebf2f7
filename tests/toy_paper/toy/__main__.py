"""The command line with the toy's experiment alone: ``python -m toy run toy/table``."""

import os
import signal

SIGNALS = (signal.SIGINT, signal.SIGTERM)
before = {number: signal.getsignal(number) for number in SIGNALS}
for number in SIGNALS:  # `run` sees to what comes later
    if before[number] != signal.SIG_IGN:
        signal.signal(number, lambda number, frame: os._exit(128 + number))

from xlrepro import experiments  # noqa: E402
from xlrepro.__main__ import run  # noqa: E402

if __name__ == "__main__":
    for number in SIGNALS:
        signal.signal(number, before[number])
    experiments.ORDER = ("toy",)
    run()
