"""``python -m xlrepro`` is ``xlrepro``."""

from xlrepro.cli import main

if __name__ == "__main__":
    main()
