"""Adaptive knowledge sharing in multi-task learning (Zaremoodi et al. 2018): where things are.

| of the paper | here |
|---|---|
| §2.1 routing, Figure 1; §2.2 blocks | ``recurrent`` |
| §2, §3.3 the model, the baselines | ``model`` |
| §2.3 objective and schedule | ``training`` |
| §3.1 bilingual corpora, BPE | ``corpora``, ``encoding``, ``text`` |
| §3.2 auxiliary tasks | ``corpora``, ``linearisers`` |
| Table 1 | ``run``, scores in ``scores``; rows in ``experiments.yaml`` |
| Figure 2 | ``blocks``, measured in ``run`` |
"""
