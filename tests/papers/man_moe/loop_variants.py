"""The plain loop of the benchmark with the other mixture, gates not detached, and whole texts."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional

from benchmarks.man_moe_loop import LoopManMoe, LoopTrainer, by_language


class VariantLoop(LoopManMoe):
    """The plain loop's model, for each choice of mixture, of the gates' gradient and of task.

    Args:
        ours: the model whose weights it starts from, without dropout.
        detach: whether the gates train themselves alone.
    """

    def __init__(self, ours, detach):
        super().__init__(ours, 0.0)
        self.mixture, self.detach = ours.predictor.mixture, detach
        self.attention = None
        if ours.predictor.pool is not None:
            self.attention = nn.Parameter(ours.predictor.pool.vector.detach().clone())

    def predict(self, words, shared, mask):
        """Return log-probabilities of tokens or texts, and the logits of both gates."""
        hidden = self.private(words, mask)[mask]
        first = self.private_gate(self._below_a_gate(hidden))
        weights, private = first.softmax(-1), 0.0
        for i, expert in enumerate(self.private_experts):
            private = private + weights[:, i : i + 1] * expert(hidden).tanh()
        features = torch.cat((shared[mask], private), -1)
        if self.attention is not None:
            texts = features.split(mask.sum(1).tolist())
            features = torch.stack([(t @ self.attention).softmax(0) @ t for t in texts])
        second = self.gate(self._below_a_gate(features))
        weights, mixed = second.softmax(-1), 0.0
        for i, expert in enumerate(self.experts):
            own = expert(features).log_softmax(-1)
            mixed = mixed + weights[:, i : i + 1] * (own if self.mixture == "log" else own.exp())
        return (mixed if self.mixture == "log" else mixed.log()), first, second

    def _below_a_gate(self, x):
        return x.detach() if self.detach else x


class VariantTrainer(LoopTrainer):
    """Algorithm 1 line by line, for tags of tokens or classes of texts."""

    def main_backward(self, batches):
        """Take the gradient of J, language by language, and return J.

        D's own gradient is of no use: its optimiser begins with none.
        """
        labelled, total = batches.labelled, 0.0
        of_item = labelled.languages
        if self.model.attention is None:
            of_item = of_item[:, None].expand_as(labelled.mask)[labelled.mask]
        for part, language in by_language(replace(labelled, gold=labelled.gold[:0])):
            words, shared = self._features(part)
            log_probabilities, *gates = self.model.predict(words, shared, part.mask)
            total = total + functional.nll_loss(
                log_probabilities, labelled.gold[of_item == language]
            )
            for logits in gates:
                expert = torch.full((len(logits),), language)
                total = total + self.settings.lambda2 * functional.cross_entropy(logits, expert)
        for part, language in by_language(batches.unlabelled):
            _, shared = self._features(part)
            total = total - self.settings.lambda1 * self._language_loss(shared, part, language)
        total.backward()
        return float(total.detach())

    def _features(self, batch):
        words = self.model.words(batch.rows, batch.mask, self.table)
        return words, self.model.shared(words, batch.mask)
