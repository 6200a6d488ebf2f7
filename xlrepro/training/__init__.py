"""How models are trained, whatever the paper."""
