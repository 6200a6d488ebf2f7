"""The errors a user can act on.

Each message is one line that says what was wrong, where, and what to do. The command line prints
that line and exits with status 2; it never shows a traceback for one of these.
"""


class XlreproError(Exception):
    """Base of all errors whose message is meant for the user."""


class DataError(XlreproError):
    """A file is missing, malformed, or its checksum is wrong."""


class SettingsError(XlreproError):
    """A name or parameter is unknown or has an impossible value."""


class DeviceError(XlreproError):
    """A device was asked for that this machine does not have."""


class StoreError(XlreproError):
    """A record cannot be read or written."""
