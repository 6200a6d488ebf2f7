"""What Figure 2 measures, on two sentences, with the router's weights read off by hand."""

import pytest
import torch

from tests.papers.routing_nmt.small_models import small_model
from tests.papers.routing_nmt.small_trials import learner
from xlrepro.papers.routing_nmt.data.encoding import Example
from xlrepro.papers.routing_nmt.translation import usage
from xlrepro.papers.routing_nmt.usage import block_usage

SENTENCES = [Example([5, 6, 7], [1, 4, 2]), Example([8, 9], [1, 4, 2])]


def test_usage_is_the_mean_of_tau_over_all_tokens_and_both_directions():
    model = small_model().eval()
    sums = torch.zeros(2, 3).double()  # directions, shared blocks
    with torch.inference_mode():
        for sentence in SENTENCES:
            for number, order in enumerate((sentence.source, sentence.source[::-1])):
                words = model.embedding(torch.tensor(order)[:, None])
                _, tau = model.directions[number].tied("ner").scan(words)
                sums[number] += tau.sum((0, 1))
    forwards, backwards = sums / 5
    assert (forwards - backwards).abs().max() > 1e-3
    wanted = ((forwards + backwards) / 2).tolist()
    assert block_usage(model, "ner", SENTENCES) == pytest.approx(wanted, abs=1e-5)


def test_a_sentence_is_given_another_tasks_tag_and_nothing_else():
    data = learner()._data
    sources = data.tasks["translation"].test
    tagged = data.retagged(sources, "ner")
    assert {data.source.tokens[example.source[0]] for example in sources} == {"<translation>"}
    assert {data.source.tokens[example.source[0]] for example in tagged} == {"<ner>"}
    assert [e.source[1:] for e in tagged] == [e.source[1:] for e in sources]
    assert [e.target for e in tagged] == [e.target for e in sources]


def test_the_same_sentences_are_translations_and_a_tasks_own_are_its_own():
    one = learner()
    model, data = one.model, one._data
    found = usage(model, data, "cpu")
    for task, each in data.tasks.items():
        tag = data.source.tokens.index(f"<{task}>")
        english = [Example([tag, *e.source[1:]], e.target) for e in data.tasks["translation"].test]
        assert found["same"][task] == block_usage(model, task, english)
        assert found["own"][task] == block_usage(model, task, each.test)
        assert (found["same"][task] == found["own"][task]) == (task == "translation")
