"""xlrepro: do the numbers and claims of five papers on cross-lingual transfer replicate?"""

__version__ = "1.0.0"
