"""Towards multi-sense cross-lingual alignment of contextual embeddings (Liu et al. 2022).

Eq. 1, 2      the language models         network.py, bert.py
Eq. 3 to 7    the losses over senses      softmax.py, senses.py
Algorithm 1   choice of senses, centres   senses.py
Algorithm 2   the projection P            senses.py
pruning       §3.1                        senses.py
training      §D                          text.py, training.py
Eq. 8         W between languages         vectors.py
Table 2       word sense disambiguation   wsd.py, data.py
Table 3       entities                    transfer.py, data.py
Table 4, 5    sentiment, inference        transfer.py, xlrepro/tasks/classification.py
Tables 6-8    settings and what follows   purity.py, experiments.yaml
Figures 4-7   senses of words             purity.py
"""
