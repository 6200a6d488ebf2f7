"""``python -m xlrepro`` is ``xlrepro``."""

import sys

if __name__ == "__main__":
    try:
        from xlrepro.cli import main
    except KeyboardInterrupt:  # loading it takes a moment, too
        sys.exit(130)
    main()
