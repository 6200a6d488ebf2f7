"""Maps from one language's vector space into another's: with a dictionary, and without one."""
