"""Adaptive routing."""
