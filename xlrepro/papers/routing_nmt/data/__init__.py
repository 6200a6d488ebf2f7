"""The data of the five sequence tasks: artificial, open, or supplied by the user."""
