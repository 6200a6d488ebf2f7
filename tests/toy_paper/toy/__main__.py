"""The command line with the toy's experiment alone: ``python -m toy run toy/table``."""

import sys

try:
    from xlrepro import experiments
    from xlrepro.__main__ import run
except KeyboardInterrupt:  # `run` sees to what comes later
    sys.exit(130)

if __name__ == "__main__":
    experiments.ORDER = ("toy",)
    run()
