"""On the importance of word order in cross-lingual sequence labeling.

Liu, Winata, Cahyawijaya, Madotto, Lin, Fung, AAAI 2021 (arXiv 2001.11164).

| in the paper | computed by |
|---|---|
| Eq. 1, Eq. 2, the encoders | ``model.py``, ``xlrepro/nn`` |
| shuffled training data | ``data.py`` |
| Tables 1, 2, 5 and 6, Figures 1 to 3, word level; distances | ``run.py`` |
| Tables 1 and 2, rows on M-BERT | ``mbert/`` |
| Table 3 (NLU model) | ``nlu.py`` |
| Table 4 (MAN-MoE) | ``papers/man_moe`` |

Rows, columns, profiles and settings stand in ``experiments.yaml``, typed in ``settings.py``.
"""
