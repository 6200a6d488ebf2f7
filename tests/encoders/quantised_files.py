"""A tiny encoder in the format of 4 bits: random weights, subwords of a few scripts."""

import struct

import numpy as np

SPELT = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁un", "do", "▁undo", "fi"]
SPELT += ["我", "们", "▁да", "<mask>"]
SUBWORDS = list(zip(SPELT, [0.0] * 4 + [-3.0, -4.0, -4.5, -9.5, -5.0, -5.0, -5.0, -6.0, 0.0]))
NORMALISER = {0xFB01: "fi", 0x2003: " ", 0x200B: ""}
DIM, LAYERS, HEADS, FF, ROWS, POSITIONS, EPS = 64, 2, 4, 128, 16, 20, 1e-5
PARTS = dict.fromkeys(("q", "k", "v", "ao"), (DIM, DIM)) | {"fi": (FF, DIM), "fo": (DIM, FF)}


def quantised(values):
    """Return blocks as bytes: weights that 4 bits hold exactly come back as they were."""
    out = b""
    for block in np.asarray(values, dtype=np.float32).reshape(-1, 32):
        scale = np.float16(max(np.abs(block).max() / 7, 1e-3))
        bits = np.clip(np.round(block / np.float32(scale)), -8, 7).astype(int) + 8
        out += scale.tobytes() + bytes(int(bits[j] | bits[j + 16] << 4) for j in range(16))
    return out


def write(path):
    """Write a random encoder to ``path``."""
    draw = np.random.default_rng(0)
    tensors = {"emb.word": (1, ROWS * DIM)}
    tensors |= {"emb.pos": (0, POSITIONS * DIM), "emb.type": (0, 2 * DIM)}
    norms = ["emb.ln"] + [f"l{i}.{n}" for i in range(LAYERS) for n in ("aln", "oln")]
    for i in range(LAYERS):
        for part, (rows, columns) in PARTS.items():
            tensors |= {f"l{i}.{part}.w": (1, rows * columns), f"l{i}.{part}.b": (0, rows)}
    for norm in norms:
        tensors |= {f"{norm}.w": (0, DIM), f"{norm}.b": (0, DIM)}
    bodies = {}
    for name, (is_quantised, count) in tensors.items():
        values = draw.normal(0, 0.3, count).astype("<f4")
        values += 1 if name.endswith("ln.w") else 0
        bodies[name] = quantised(values) if is_quantised else values.tobytes()
    head = b"E5S1" + struct.pack("<I7i", 1, DIM, LAYERS, HEADS, FF, ROWS, POSITIONS, 2)
    head += struct.pack("<fi", EPS, 32)
    texts = [subword.encode() for subword, _ in SUBWORDS]
    head += struct.pack("<5iQ", len(SUBWORDS), 0, 2, 1, 3, sum(map(len, texts)))
    head += np.cumsum([0, *map(len, texts)]).astype("<u4").tobytes()
    head += np.array([score for _, score in SUBWORDS], dtype="<f4").tobytes() + b"".join(texts)
    entries = [
        struct.pack(f"<IB{len(t)}I", code, len(t), *map(ord, t)) for code, t in NORMALISER.items()
    ]
    head += struct.pack("<iI", len(entries), sum(map(len, entries))) + b"".join(entries)
    start = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in tensors)
    directory = struct.pack("<i", len(tensors))
    for name, (is_quantised, count) in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", is_quantised, count, start, len(bodies[name]))
        start += len(bodies[name])
    path.write_bytes(head + directory + b"".join(bodies.values()))
    return path
