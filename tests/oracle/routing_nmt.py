"""Records of the routing paper as today's settings have them."""


def migrate(record: dict) -> dict | str:
    """Constants of today leave the settings: their value was the same in every record."""
    settings, model = record["settings"], record["settings"]["model"]
    same = {model.pop(name) for name in ("embedding", "attention", "router")}
    assert same == {model["hidden"]}
    said = [model.pop(n) for n in ("bidirectional", "reset_gate", "decoder_input", "output_layer")]
    assert said == [True, "before", "word_and_context", "state_context_word"]
    assert model.pop("shared_blocks") == 3
    assert [settings.pop(n) for n in ("halve", "clip_norm", "pool")] == [True, 5.0, 20]
    record["version"] = 1  # outdated: the treebank's escapes, routers by direction
    return record
