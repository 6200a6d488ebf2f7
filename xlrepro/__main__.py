"""``python -m xlrepro`` is ``xlrepro``."""

import os
import signal

# Nothing else is loaded before `run` has seen to the signals.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def run() -> None:
    """Run the command line, whose own handlers of signals take over once it is loaded."""
    kept = {}
    for number, default in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is default:  # else whoever started us wants it ignored
            kept[number] = signal.signal(number, _leave)
    from xlrepro.cli import main  # a quarter of a second of imports

    for number, handler in kept.items():
        signal.signal(number, handler)
    main()


def _leave(number: int, frame: "FrameType | None") -> "NoReturn":
    """End at once, without a traceback out of somebody's half-loaded module."""
    said = "terminated" if number == signal.SIGTERM else "interrupted"
    os.write(2, f"xlrepro: {said}\n".encode())
    os._exit(128 + number)


if __name__ == "__main__":
    run()
