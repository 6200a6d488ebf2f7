"""See `xlrepro.store`; this name goes at 12:30."""

from xlrepro.store import *  # noqa: F403
