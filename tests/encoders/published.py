"""Small models written as they are published: what users put into the folder of supplied files."""

import json

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
SIZES |= {"intermediate_size": 12}


def bert(folder, gamma=False, positions=300):
    """Write a BERT; its file names layer norms gamma and beta, as those of Google's do."""
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    special = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    subwords = [*special.values(), *LETTERS, *(f"##{c}" for c in LETTERS)]
    config = transformers.BertConfig(
        vocab_size=len(subwords), max_position_embeddings=positions, **SIZES
    )
    model = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": numbered(subwords)}
    model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    whole = _write(
        folder, transformers.BertForMaskedLM(config), model, {"type": "BertPreTokenizer"}, special
    )
    if gamma:
        state = load_file(folder / "model.safetensors")
        for new, old in (("gamma", "weight"), ("beta", "bias")):
            state = {k.replace(f"LayerNorm.{old}", f"LayerNorm.{new}"): v for k, v in state.items()}
        save_file(
            {name: torch.clone(value) for name, value in state.items()},
            folder / "model.safetensors",
            {"format": "pt"},
        )
    return whole


def roberta(folder):
    """Write a RoBERTa, whose mask is its last row and whose positions begin after padding's."""
    import transformers

    subwords = ["<s>", "<pad>", "</s>", "<unk>", "Ġ", *LETTERS, "<mask>"]
    config = transformers.RobertaConfig(
        vocab_size=len(subwords), max_position_embeddings=302, type_vocab_size=1,
        layer_norm_eps=1e-5, **SIZES,
    )  # fmt: skip
    model = {"type": "BPE", "vocab": numbered(subwords), "merges": [], "unk_token": "<unk>"}
    before = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    names = {"bos": "<s>", "cls": "<s>", "sep": "</s>", "eos": "</s>", "pad": "<pad>"}
    names |= {"unk": "<unk>", "mask": "<mask>"}
    whole = transformers.RobertaForMaskedLM(config)
    return _write(folder, whole, model, {**before, "use_regex": True}, names)


def numbered(subwords):
    return {subword: i for i, subword in enumerate(subwords)}


def _write(folder, whole, subwords, before, special):
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    for parameter in whole.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    whole.save_pretrained(folder)
    described = {"version": "1.0", "added_tokens": [], "normalizer": None, "model": subwords}
    described |= {"pre_tokenizer": before, "decoder": None, "post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(described), "utf-8")
    about = {"tokenizer_class": "PreTrainedTokenizerFast"}
    about |= {f"{name}_token": token for name, token in special.items()}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), "utf-8")
    return whole.eval()
