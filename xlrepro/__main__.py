"""``python -m xlrepro`` is ``xlrepro``."""

import signal  # nothing else is loaded before `run` has seen to the signals
import sys


def run() -> None:
    """Run the command line; SIGTERM, as a queueing system sends it, ends it as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from xlrepro.cli import main  # a quarter of a second of imports

        sys.exit(main())
    except KeyboardInterrupt as interrupt:
        said = str(interrupt) or "interrupted"
        print(f"xlrepro: {said}", file=sys.stderr)
        sys.exit(143 if said == "terminated" else 130)


def _terminate(number: int, frame: object) -> None:
    raise KeyboardInterrupt("terminated")


if __name__ == "__main__":
    run()
