"""What kernels are forked with: libraries, and the published records, read once for all pages."""

from contextlib import suppress

import scipy.special  # noqa: F401
import torch  # noqa: F401

from xlrepro.errors import XlreproError
from xlrepro.evidence.gathered import load_evidence
from xlrepro.pages import kernels, page  # noqa: F401

with suppress(XlreproError):  # a page that needs what cannot be read says so
    load_evidence()
load_evidence.cache_clear()  # its parts stay read, and what comes later counts
