"""``python -m xlrepro`` is ``xlrepro``."""

import signal


def run() -> None:
    """Run the command line; Ctrl-C while it loads ends the process, and prints nothing."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from xlrepro.cli import main  # a quarter of a second of Python's imports

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main()


if __name__ == "__main__":
    run()
