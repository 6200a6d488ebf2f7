"""xlrepro: do the numbers and claims of five papers on cross-lingual transfer replicate?"""

__version__ = "0.1.0"
