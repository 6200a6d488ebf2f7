"""How an overview is cut into tables, and which of its cells are bold."""

from xlrepro.evidence.compare import compare
from xlrepro.evidence.tables.overview import best_cells, comparison_tables, legend
from xlrepro.evidence.view import View


def test_the_best_value_of_a_sweep_is_bold_whichever_system_is_ahead(numbers):
    rows = {"word:ORT": (50.0, 70.0, 60.0), "word:TRS": (90.0, 80.0, 85.0)}
    found = numbers(
        {
            (name, column): {0: score}
            for name, scores in rows.items()
            for column, score in zip(("5.0e-04", "1.0e-03", "2.0e-03"), scores, strict=True)
        },
        "word_order/learning_rates",
    )
    frame = compare(View("word_order/learning_rates", "open", found))
    assert best_cells(frame) == {("word:ORT", "1.0e-03"), ("word:TRS", "5.0e-04")}
    assert "Bold: the best of its row." in legend(frame)


def test_nothing_is_best_where_all_are_equal(numbers):
    found = numbers({("word:ORT", "avg"): {0: 50.0}, ("word:TRS", "avg"): {0: 50.0}})
    frame = compare(View("word_order/table2", "open", found))
    assert best_cells(frame) == set()
    assert "Bold" not in legend(frame)


def test_a_table_wider_than_a_page_is_cut_between_blocks(numbers):
    names = ("word:ORT", "word:TRS", "mbert:ORT", "finetune:M-BERT")
    found = numbers({(name, "de"): {0: 50.0} for name in names})
    tables = comparison_tables(compare(View("word_order/table2", "open", found)))
    heads = [[h.text for h in table.headings] for table in tables]
    assert max(map(len, heads)) <= 9
    assert [head[0] for head in heads] == ["column"] * len(heads)
    shown = [name for head in heads for name in head[2:]]
    assert len(shown) == 12
    assert tables[0].caption.endswith("(open): word")
