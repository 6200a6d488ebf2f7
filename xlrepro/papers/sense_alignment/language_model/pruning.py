"""Which senses of a word are chosen too rarely to be kept."""

import torch
from torch import Tensor, nn

from xlrepro.papers.sense_alignment.language_model.centres import grouped
from xlrepro.papers.sense_alignment.language_model.settings import PruningSettings


class Pruning(nn.Module):
    """Counts choices and gives senses up, by the rule of the text or by that of the code.

    Args:
        words: V.
        slots: senses per word.
        first: the first sense that may be given up; 1 where sense 0 is the warm-up's.
        settings: rule and numbers.

    Attributes:
        counts: choices of each sense since the warm-up (text's rule). ``(words, slots)``
        window: the last choices of each word, in a ring; -1 where there was none (code's rule).
            ``(words, window)``
        score: of each sense (code's rule). ``(words, slots)``
    """

    counts: Tensor
    window: Tensor
    records: Tensor
    score: Tensor

    def __init__(self, words: int, slots: int, first: int, settings: PruningSettings) -> None:
        super().__init__()
        self.settings = settings
        self.first = first
        code = settings.rule == "code"
        rows = words if settings.rule != "none" else 0
        self.register_buffer("counts", torch.zeros(rows, slots, dtype=torch.long))
        size = (rows if code else 0, settings.window)
        self.register_buffer("window", torch.full(size, -1, dtype=torch.int8))
        self.register_buffer("records", torch.zeros(size[0], dtype=torch.long))
        self.register_buffer("score", torch.ones(size[0], slots))

    def record(self, words: Tensor, senses: Tensor) -> None:
        """Take note of choices, both ``(tokens,)``, in their order."""
        rule, slots = self.settings.rule, self.score.shape[1]
        if rule == "text":
            flat = self.counts.view(-1)
            flat.index_add_(0, words * slots + senses, torch.ones_like(words))
        if rule == "code":
            groups = grouped(words)
            size = self.settings.window
            # Of more choices than the ring has places the last ones stay.
            kept = groups.rank >= groups.counts[groups.group] - size
            place = (self.records[words] + groups.rank) % size
            self.window[words[kept], place[kept]] = senses[kept].to(self.window.dtype)
            self.records[groups.kinds] += groups.counts

    def due(self, step: int) -> bool:
        """Tell whether senses are looked at after ``step`` steps."""
        settings = self.settings
        looks = settings.rule != "none" and step > settings.after
        return looks and step % settings.every == 0

    def prune(self, enabled: Tensor) -> None:
        """Switch senses off in ``enabled``, ``(words, slots)``; a word keeps one at least."""
        if self.settings.rule == "text":
            self._by_text(enabled)
        elif self.settings.rule == "code":
            self._by_code(enabled)

    def _by_text(self, enabled: Tensor) -> None:
        chosen = self.counts * enabled
        total = chosen.sum(1, keepdim=True)
        rare = (chosen < self.settings.threshold * total) & (total > 0)
        self._switch_off(enabled, rare, chosen)

    def _by_code(self, enabled: Tensor) -> None:
        settings, slots = self.settings, self.score.shape[1]
        full = self.records >= settings.window
        # shape: (words with a full window, slots)
        chosen = torch.stack([(self.window[full] == s).sum(1) for s in range(slots)], 1)
        rare = chosen <= settings.frequency * settings.window
        score = torch.where(rare, self.score[full] * settings.decay, 1.0)
        self.score[full] = score
        kept = enabled[full]
        self._switch_off(kept, score < settings.floor, chosen)
        if settings.warmup_sense_returns and self.first:
            kept[:, : self.first] |= ~rare[:, : self.first]
        enabled[full] = kept

    def _switch_off(self, enabled: Tensor, rare: Tensor, chosen: Tensor) -> None:
        best = chosen.masked_fill(~enabled, -1).argmax(1)
        keeps = torch.zeros_like(enabled)
        keeps[torch.arange(len(best), device=best.device), best] = True
        enabled &= ~rare | keeps
