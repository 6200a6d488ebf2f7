import numpy as np

from xlrepro.training.masking import mask_pieces

VOCABULARY, SPECIALS, MASK = 1000, 5, 4


def masked(ids, seed=0):
    return mask_pieces(ids, SPECIALS, MASK, VOCABULARY, np.random.default_rng(seed))


def test_15_percent_are_hidden_of_them_80_masked_10_replaced_10_left():
    ids = np.random.default_rng(1).integers(SPECIALS, VOCABULARY, (200, 500))
    found = masked(ids)
    assert abs(found.hidden.mean() - 0.15) < 0.005
    seen = found.ids[found.hidden]
    assert abs((seen == MASK).mean() - 0.8) < 0.01
    assert abs((seen == found.gold).mean() - 0.1) < 0.01
    assert (found.ids == ids)[~found.hidden].all()


def test_what_the_model_sees_in_place_of_a_masked_piece_does_not_depend_on_it():
    ids = np.random.default_rng(1).integers(SPECIALS, VOCABULARY, (20, 50))
    first = masked(ids)
    gone = first.hidden & (first.ids != ids)  # masked or replaced: the label must not shine through
    others = np.where(gone, SPECIALS + (ids - SPECIALS + 1) % (VOCABULARY - SPECIALS), ids)
    second = masked(others)
    assert (second.ids == first.ids).all()
    assert (second.gold != first.gold).sum() == gone.sum() > 0


def test_a_short_batch_hides_at_least_one_piece_and_no_special_one():
    for seed in range(50):
        assert masked(np.array([[2, 7, 3]]), seed).hidden.tolist() == [[False, True, False]]
