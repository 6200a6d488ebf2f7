"""Maps from one language's vector space into another's: with a dictionary, and without one."""

NAMES = ("muse", "umwe")  # methods without a dictionary; torch is not loaded to name a trial
