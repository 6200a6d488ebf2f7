"""The experiments of the word-order paper: systems, columns, and the trials that fill them."""

from xlrepro.papers.word_order.experiments.figure1 import FIGURE1
from xlrepro.papers.word_order.experiments.measures import MEASURE_EXPERIMENTS
from xlrepro.papers.word_order.experiments.spans import SPAN_EXPERIMENTS
from xlrepro.papers.word_order.experiments.table2 import TABLE2_EXPERIMENTS
from xlrepro.papers.word_order.experiments.table3 import NLU_EXPERIMENTS
from xlrepro.papers.word_order.experiments.table4 import NER_TRANSFER_EXPERIMENTS

_table2, _learning_rates = TABLE2_EXPERIMENTS
EXPERIMENTS = (
    _table2,
    *MEASURE_EXPERIMENTS,
    _learning_rates,
    FIGURE1,
    *SPAN_EXPERIMENTS,
    *NLU_EXPERIMENTS,
    *NER_TRANSFER_EXPERIMENTS,
)
