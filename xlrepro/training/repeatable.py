"""The same numbers from the same seed: torch's deterministic algorithms."""

import torch


def compute_repeatably(device: str) -> None:
    """Let torch use deterministic algorithms alone, on a CPU; on a GPU some operations have none.

    The same as ``torch.use_deterministic_algorithms``, without what else that imports: torch's
    compiler, seconds in every process that trains. Memory that nothing was written to stays so.

    Args:
        device: ``"cpu"`` or ``"cuda"``.
    """
    torch.set_deterministic_debug_mode("error" if device == "cpu" else "default")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined] # slow
