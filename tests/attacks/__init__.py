"""Attacks on readers, runs and stores; run by hand, not in CI."""
