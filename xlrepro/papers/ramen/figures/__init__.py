"""Figures that only RAMEN's pages need."""
