"""The command line with the toy's experiment alone: ``python -m toy run toy/table``."""

from xlrepro import experiments
from xlrepro.__main__ import run

if __name__ == "__main__":
    experiments.ORDER = ("toy",)
    run()
