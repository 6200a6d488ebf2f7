"""What a program prints, whatever the order of its sets."""

import os
import subprocess
import sys


def printed(code, *arguments):
    """Return what two processes of other hash seeds print: one text, if the program repeats."""
    run = [sys.executable, "-c", code, *arguments]
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "12"]
    return {subprocess.check_output(run, env=environment) for environment in seeds}
