"""See `xlrepro.machine`; this name goes at 12:30."""

from xlrepro.machine import *  # noqa: F403
