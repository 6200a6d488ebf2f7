"""Figures and tables that only the routing paper's pages need."""
