"""Figures and tables that only the MAN-MoE paper's pages need."""
