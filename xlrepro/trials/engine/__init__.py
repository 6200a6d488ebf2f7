"""Runs trials: what is to do, on which device, on which cluster, and how far it is."""
