from collections import Counter

import numpy as np
import pytest
import torch

from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import experiment
from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.papers.word_order import hashes
from xlrepro.papers.word_order.experiments.mbert import mbert_settings
from xlrepro.papers.word_order.mbert import encoders, layers, pieces, tagging
from xlrepro.papers.word_order.mbert.encoders import MultilingualBert
from xlrepro.papers.word_order.mbert.model import FineTunedBert, frozen_tagger
from xlrepro.papers.word_order.mbert.pieces import cut, in_pieces
from xlrepro.papers.word_order.mbert.tagging import Labelling
from xlrepro.papers.word_order.settings import TaggingSettings, validated
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import NO_LABEL
from xlrepro.trials.trial import TrialContext
from xlrepro.vectors.encoding import TagSet

TAGS = TagSet(["A", "B", "C"])
SMALL = {"train_sentences": 16, "test_sentences": 4, "epochs": 2, "targets": ("es", "th")}
FROZEN_PE = "finetune:Fine-tune M-BERT w/ frozen PE"


def tiny_bert(limit=12, name="self:tiny"):
    """Return an untrained BERT; a word of n letters has n pieces, numbered by its letters."""
    torch.manual_seed(3)
    network = Bert(BertSizes(200, dim=8, layers=1, heads=2, ff_dim=16, positions=limit, dropout=0))

    def spelt(words, language):
        return [[10 + ord(letter) % 100 for letter in word] for word in words]

    return MultilingualBert(network.eval(), network.positions.weight, spelt, 2, 3)


@pytest.fixture
def tiny(monkeypatch):
    """Replace every checkpoint by the tiny BERT."""
    monkeypatch.setattr(encoders, "load_bert", lambda checkpoint: tiny_bert(60))
    forget()
    yield
    forget()


def forget():
    """Forget what was cached."""
    pieces.frozen_bert.cache_clear()
    pieces.features.cache_clear()


def labelling(identifier, task="SF", seed=0, **overrides):
    overrides = {"dim": 8, **overrides} if identifier.startswith("mbert") else overrides
    settings = mbert_settings("smoke", task, identifier, {**SMALL, **overrides})
    return Labelling(settings, seed, TrialContext())


def split_of(words, tags, limit=12):
    return in_pieces(tiny_bert(limit), "xx", [words], [tags], TAGS)


def test_labels_stand_on_first_pieces_alone():
    split = split_of(["ab", "c", "def"], ["A", "B", "C"])
    assert split.first[0].tolist() == [1, 3, 4]
    (row,) = pieces.as_sequences(split).tags
    assert row.tolist() == [NO_LABEL, 0, NO_LABEL, 1, 2, NO_LABEL, NO_LABEL, NO_LABEL]
    assert split.ids[0].tolist()[0] == 2
    assert split.ids[0].tolist()[-1] == 3


def test_frozen_features_are_the_outputs_at_first_pieces_whatever_the_padding():
    bert = tiny_bert()
    words = [["ab", "c", "def"], ["g"], ["hi", "jk"]]
    split = in_pieces(bert, "xx", words, [["A"] * len(w) for w in words], TAGS)
    features = pieces.as_features(bert, split, "cpu")
    for ids, first, rows in zip(split.ids, split.first, features.rows, strict=True):
        alone = bert.network(ids[None])[0, first]
        torch.testing.assert_close(features.table[rows], alone)
    assert features.table[0].tolist() == [0.0] * 8


def test_a_sentence_over_the_limit_is_cut_at_words_and_counted():
    words = ["abcd", "efgh", "ij", "klmnopqrstuvw"]
    split = split_of(words, ["A", "B", "C", "A"])
    assert split.cut == 1
    assert [len(ids) for ids in split.ids] == [12, 12]  # the last word itself is cut to fit
    assert split.sentence == [0, 0]
    assert split.by_sentence(split.tags)[0].tolist() == [0, 1, 2, 0]
    assert split_of(["abcd"], ["A"]).cut == 0


@pytest.mark.parametrize("room", [4, 5, 9])
def test_parts_fit_and_hold_every_word_once(room):
    lengths = [1, 4, 2, 2, 3, 1, 1, 4]
    parts = cut(lengths, room)
    assert [i for part in parts for i in part] == list(range(8))
    assert all(sum(lengths[i] for i in part) <= room for part in parts)


def test_frozen_positions_stay_and_everything_else_moves(tiny):
    work = labelling(FROZEN_PE)
    before = {name: p.detach().clone() for name, p in work.labeller.named_parameters()}
    work.train()
    same = {n for n, p in work.labeller.named_parameters() if torch.equal(p, before[n])}
    assert same == {"network.positions.weight"}


def test_positions_move_where_they_are_not_frozen(tiny):
    work = labelling("finetune:Fine-tune M-BERT")
    before = work.bert.position_table.detach().clone()
    work.train()
    assert not torch.equal(work.bert.position_table, before)


def test_trs_with_mbert_positions_starts_from_them_and_keeps_them(tiny):
    work = labelling("mbert:TRS w/ M-BERT PE")
    table = work.labeller.encoder.project[0].table
    assert torch.equal(table, work.bert.position_table[1:])
    before = {name: p.detach().clone() for name, p in work.labeller.named_parameters()}
    work.train()
    same = {n for n, p in work.labeller.named_parameters() if torch.equal(p, before[n])}
    assert same == {"encoder.project.0.table"}


def test_frozen_rows_leave_mbert_as_it_is(tiny):
    work = labelling("mbert:ORT")
    before = {k: v.clone() for k, v in work.bert.network.state_dict().items()}
    work.train()
    assert all(torch.equal(v, before[k]) for k, v in work.bert.network.state_dict().items())
    ours = {id(p) for p in work.labeller.parameters()}
    assert not ours & {id(p) for p in work.bert.network.parameters()}


def test_mbert_positions_are_added_before_a_narrower_encoder(tiny):
    work = labelling("mbert:TRS w/ M-BERT PE", dim=4)
    tagger, table = work.labeller.eval(), work.bert.position_table[1:4]
    x, mask = torch.zeros(1, 3, 8), torch.ones(1, 3, dtype=torch.bool)
    linear = tagger.encoder.project[1]
    torch.testing.assert_close(tagger.encoder.project(x)[0], linear(table))
    assert tagger.encoder(x, mask).shape == (1, 3, 4)


def test_padding_changes_no_prediction_of_a_fine_tuned_bert():
    bert = tiny_bert()
    labeller = FineTunedBert(bert, 3, 0.0, False).eval()
    words = [["abcdef", "gh"], ["c"]]
    split = in_pieces(bert, "xx", words, [["A", "B"], ["C"]], TAGS)
    batches = pieces.as_sequences(split)
    from xlrepro.vectors.encoding import collate

    together, alone = collate(batches, [0, 1]), collate(batches, [1])
    torch.testing.assert_close(
        labeller.emissions(together)[1, : len(split.ids[1])], labeller.emissions(alone)[0]
    )


def test_labels_inside_words_do_not_enter_the_loss():
    bert = tiny_bert()
    labeller = FineTunedBert(bert, 3, 0.0, False).eval()
    batches = pieces.as_sequences(split_of(["ab", "c"], ["A", "B"]))
    from xlrepro.vectors.encoding import collate

    batch = collate(batches, [0])
    logits = labeller.emissions(batch)[0]
    by_hand = torch.nn.functional.cross_entropy(logits[[1, 3]], torch.tensor([0, 1]))
    torch.testing.assert_close(labeller.loss(batch, torch.zeros(1, 0)), by_hand)


@pytest.mark.parametrize("identifier", ["mbert:ORT", FROZEN_PE])
def test_nothing_but_english_is_read_before_training_is_over(tiny, monkeypatch, identifier):
    read = []
    original = Source.sentences
    monkeypatch.setattr(
        Source,
        "sentences",
        lambda s, code, split: read.append((code, split)) or original(s, code, split),
    )
    labelling(identifier).train()
    assert set(read) == {("en", "train"), ("en", "dev")}


def test_target_labels_do_not_reach_the_weights(tiny, monkeypatch):
    """Another annotation of the target test sets leaves the trained model as it is."""
    original = Source.sentences

    def relabelled(source, code, split):
        found = original(source, code, split)
        if code == "en":
            return found
        return [Sentence(tokens=s.tokens, slots=("B-x",) * len(s)) for s in found]

    weights = []
    for reader in (original, relabelled):
        monkeypatch.setattr(Source, "sentences", reader)
        pieces.features.cache_clear()
        work = labelling("mbert:TRS")
        work.train()
        work.score("es", "test")
        weights.append(torch.cat([p.flatten() for p in work.labeller.parameters()]))
    assert torch.equal(*weights)


def test_the_same_seed_gives_the_same_losses_and_another_does_not(tiny):
    for identifier in ("mbert:RPT", "finetune:Fine-tune M-BERT"):
        runs = [labelling(identifier, seed=seed).train().losses for seed in (0, 0, 1)]
        assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("identifier", ["mbert:TRS", "finetune:Fine-tune M-BERT"])
def test_a_trial_does_not_depend_on_what_its_process_has_cached(tiny, identifier):
    losses = []
    for _ in range(2):  # the second finds its features in the cache, and has drawn other numbers
        losses.append(labelling(identifier).train().losses)
        torch.rand(7)
    assert losses[0] == losses[1]


def test_rows_that_differ_in_their_encoder_share_their_features(tiny, monkeypatch):
    built = []
    original = pieces.as_features
    monkeypatch.setattr(
        pieces, "as_features", lambda *arguments: built.append(1) or original(*arguments)
    )
    labelling("mbert:TRS").train()
    labelling("mbert:ORT", seed=1).train()
    assert len(built) == 2  # train and dev, each once


@pytest.mark.parametrize("task", ["POS", "NER", "SF"])
def test_a_trial_fills_the_columns_it_announces(tiny, task):
    key = "word_order/table2" if task == "POS" else "word_order/table1"
    overrides = {**SMALL, "dim": 8, "targets": ("es", "nl") if task != "SF" else ("es", "th")}
    trials = experiment(key).trials("smoke", ["mbert:RPT"], [0], overrides)
    (trial,) = (t for t in trials if t.settings["task"] == task)
    result = tagging.run(trial, TrialContext())
    assert {c.column for c in result.cells} == set(trial.columns)
    scores = {c.column.rsplit("/", 1)[-1]: c.value for c in result.cells}
    targets = trial.settings["targets"]
    assert scores["avg"] == pytest.approx(sum(scores[t] for t in targets) / 2)


def test_pos_gold_counts_every_token(tiny):
    work = labelling("mbert:ORT", "POS")
    work.train()
    work.score("es", "test")
    total = sum(n for _, n in work.by_tag["es"].values())
    assert total == sum(len(s) for s in work.source.sentences("es", "test"))


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_rows_have_the_names_that_the_paper_prints(name):
    shown, reported = experiment(f"word_order/{name}"), load_reported()
    ours = {s.identifier for s in shown.systems if s.block in ("mbert", "finetune")}
    printed = {s for s in reported.systems(shown.key) if s.split(":")[0] in ("mbert", "finetune")}
    assert ours == printed


@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_table_2_has_the_30_targets_of_the_mbert_blocks(profile):
    trials = experiment("word_order/table2").trials(profile, ["mbert:*", "finetune:*"], [0])
    columns = set(experiment("word_order/table2").columns)
    assert Counter(len(set(t.columns) & columns) for t in trials) == {32: 6}


def test_word_level_rows_have_the_key_they_had(tiny):
    """Settings of the M-BERT rows must not leak into those of the others."""
    (trial,) = experiment("word_order/table2").trials("smoke", ["word:ORT"], [0])
    assert "checkpoint" not in trial.settings
    with pytest.raises(SettingsError, match="checkpoint"):
        validated({**trial.settings, "checkpoint": "x"}, "", TaggingSettings)


def released(folder):
    """Save a tiny BERT of transformers with a vocabulary of letters."""
    transformers = pytest.importorskip("transformers")
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcd",
        *(f"##{c}" for c in "abcd"),
    ]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=10,
    )
    transformers.BertModel(config).save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": false}'
    )


def test_a_released_checkpoint_is_read_from_a_local_folder(tmp_path):
    released(tmp_path / "bert")
    bert = encoders.load_bert(str(tmp_path / "bert"))
    assert (bert.dim, bert.limit, bert.cls, bert.sep) == (8, 10, 2, 3)
    assert bert.pieces(["ab", "c"], "en") == [[5, 10], [7]]
    split = in_pieces(bert, "en", [["ab", "c"], ["d"]], [["A", "B"], ["C"]], TAGS)
    features = pieces.as_features(bert, split, "cpu")
    assert features.table.shape == (4, 8)
    settings = mbert_settings("smoke", "SF", "mbert:TRS w/ M-BERT PE", {"dim": 8})
    tagger = frozen_tagger(settings.encoder, bert, 3, "crf")
    assert tagger.encoder.project[0].table.shape == (9, 8)
    FineTunedBert(bert, 3, 0.1, freeze_positions=True)
    assert not bert.network.model.embeddings.position_embeddings.weight.requires_grad


def test_a_missing_checkpoint_is_one_clear_line(monkeypatch, tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(DataError, match=r"checkpoint .*nothing-here.*self:cpu") as caught:
        encoders.load_bert(str(tmp_path / "nothing-here"))
    assert "\n" not in str(caught.value)


def test_without_transformers_a_released_checkpoint_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(SettingsError, match=r"xlrepro\[mbert\]"):
        encoders.load_bert("bert-base-multilingual-cased")


def test_a_registered_checkpoint_ends_at_its_layer_and_skips_bare_markers(tmp_path, monkeypatch):
    from tests.pretraining import quantised_files
    from xlrepro.pretraining import released
    from xlrepro.pretraining.pieces import unigram
    from xlrepro.pretraining.quantised import QuantisedFile

    file = QuantisedFile(quantised_files.write(tmp_path / "small.bin"))
    name = "multilingual-e5-small"
    tokenizer = unigram(file.pieces, 3, file.normaliser)
    network = released.quantised_network(file)
    encoder = released.ReleasedEncoder(name, network, tokenizer, 0, 2, 1, 3, 12)
    monkeypatch.setattr(released, "load", lambda name: encoder)
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    bert = encoders.load_bert(f"released:{name}@1")
    split = pieces.in_pieces(bert, "zh", [("我", "undo")], [("A", "B")], TAGS)
    assert split.first[0].tolist() == [2, 3]
    found = pieces.as_features(bert, split, "cpu")
    with torch.no_grad():
        state = network.hidden_states(split.ids[0][None], layers=1)[-1][0, 2]
    torch.testing.assert_close(found.table[1], state, atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("checkpoint", ["released:m-bert", "released:multilingual-e5-small@last"])
def test_an_unknown_registered_checkpoint_is_one_line(checkpoint):
    with pytest.raises(SettingsError, match="released"):
        hashes.checkpoint_hash(checkpoint)


def test_a_linear_probe_separates_what_a_line_separates():
    draw = np.random.default_rng(0)
    states = draw.normal(size=(400, 5)).astype("float32")
    tags = (states[:, 2] > 0.3).astype(int)
    train, dev = (states[:300], tags[:300]), (states[300:], tags[300:])
    assert layers.probe(train, dev) > 97
    assert layers.probe(train, (dev[0], 1 - dev[1])) < 3


def test_a_trial_of_a_learning_rate_reads_no_target(tiny):
    (trial, *_) = experiment("word_order/learning_rates").trials(
        "smoke", ["mbert:ORT"], [0], {**SMALL, "dim": 8}
    )
    result = tagging.run(trial, TrialContext())
    (cell,) = result.cells
    assert cell.value == max(result.details["dev_accuracy"])
    assert not any("/test" in name for name, _ in trial.data)
