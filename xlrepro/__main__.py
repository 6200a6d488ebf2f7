"""``python -m xlrepro`` is ``xlrepro``."""

import signal  # nothing else is loaded before `run` has seen to the signals
import sys

came: list[str] = []  # what signals said


def run() -> None:
    """Run the command line; SIGTERM, as a queueing system sends it, ends it as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from xlrepro.cli import main  # a quarter of a second of imports

        sys.exit(main())
    except SystemExit:
        raise
    except BaseException:  # of a KeyboardInterrupt amid its import pydantic makes errors of its own
        if not came:
            raise
        print(f"xlrepro: {came[-1]}", file=sys.stderr)
        sys.exit(143 if came[-1] == "terminated" else 130)


def _interrupt(number: int, frame: object) -> None:
    came.append("terminated" if number == signal.SIGTERM else "interrupted")
    raise KeyboardInterrupt(came[-1])


if __name__ == "__main__":
    run()
