"""See `xlrepro.engine`; this name goes at 12:30."""

from xlrepro.engine import *  # noqa: F403
