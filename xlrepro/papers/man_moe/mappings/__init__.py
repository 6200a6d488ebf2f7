"""How well each embedding mapping aligns languages, and which collapse."""
