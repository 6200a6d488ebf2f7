"""Figures, tables and sentences that only the word-order paper's pages need."""
