"""What a program prints, whatever the order of its sets."""

import os
import subprocess
import sys


def printed(code, *arguments):
    """Return what two processes of other hash seeds print: one text, if the program repeats."""
    run = [sys.executable, "-c", code, *arguments]
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "12"]
    return {
        subprocess.run(run, env=e, stdout=subprocess.PIPE, text=True, check=True).stdout
        for e in seeds
    }
