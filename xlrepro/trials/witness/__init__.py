"""Witnesses: whole trials, shrunken, run with a record's code and with today's."""
