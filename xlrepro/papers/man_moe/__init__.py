"""Zero-resource multilingual model transfer (MAN-MoE): which module computes what.

Chen, Hassan Awadallah, Hassan, Wang, Cardie, ICLR 2019 submission.

| in the paper | computed by |
|---|---|
| §3.1, Eq. 1 and 2, the model | ``model.py``; what it reads: ``encoding.py`` |
| Algorithm 1, Eq. 4 to 6 | ``training.py`` |
| Tables 1 (our counts) to 6, Figure 4 | ``run.py``; texts: ``data.py`` |

Rows, columns, profiles and settings stand in ``experiments.yaml``, typed in ``settings.py``.
"""
