"""Damaged files for the readers; an attack on clusters, run by hand."""
