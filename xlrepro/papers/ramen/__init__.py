"""From English to foreign languages: transferring pre-trained language models (RAMEN).

Where the paper's tables and figures are computed::

    §2.1, Eq. 1 to 4           initialisation.py
    §2.2, §2.3, Fig. 1         model.py; adaptation.py (text as subwords, stages, what is built)
    §3.1, data                 data.py; supplied.py (where the paper's own lie)
    Tables 1 to 4, Figure 2    run.py: heads.py on frozen states, or with the encoder tuned
    which trials fill them     experiments.yaml, settings.py
"""
