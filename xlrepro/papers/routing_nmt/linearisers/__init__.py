"""Auxiliary tasks as sequences: constituency trees and AMR graphs written as tokens, and back."""
