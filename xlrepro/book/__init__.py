"""The book: notebooks run in batches, pages generated from the evidence, and the rendered site.

``batch`` executes notebooks, ``assemble`` gathers prose, notebooks and generated pages into one
source folder, ``build`` renders it with Jupyter Book. Everything lands below ``build/``.
"""
