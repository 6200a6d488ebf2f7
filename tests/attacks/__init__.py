"""Damaged files, which tests read, and a Dask cluster by hand."""
