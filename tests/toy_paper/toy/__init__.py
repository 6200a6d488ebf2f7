"""A package of somebody else, with a task of its own."""
