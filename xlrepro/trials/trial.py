"""See `xlrepro.trials`; this name goes at 12:30."""

from xlrepro.trials import *  # noqa: F403
from xlrepro.trials import FIELDS as FIELDS
