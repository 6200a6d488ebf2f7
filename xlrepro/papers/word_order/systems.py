"""The rows of the paper's word-level tables, and the encoder of each."""

from typing import Any

# Sizes come from the presets; "w/ shuffled data" changes the data alone.
ENCODERS: dict[str, dict[str, Any]] = {
    "BiLSTM": {"kind": "bilstm"},
    "TRS": {"kind": "transformer", "positions": "sinusoidal"},
    "RPT": {"kind": "transformer", "positions": "relative"},
    "ORT": {"kind": "transformer", "positions": "none"},
}
SHUFFLED = " w/ shuffled data"
WORD_ROWS = ("BiLSTM", f"BiLSTM{SHUFFLED}", "TRS", f"TRS{SHUFFLED}", "RPT", "ORT")
