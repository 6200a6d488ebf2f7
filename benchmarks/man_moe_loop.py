"""MAN-MoE the plain way, as a reference: language by language, expert by expert, token by token.

Same equations, same numbers with dropout off, nothing done at once that can be done in turn: the
CharCNN reads every token of every batch, each language has its own pass through each part, each
expert is a module of its own, and F_s runs anew for each update of the discriminator.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from xlrepro.nn.char_cnn import CharCNN
from xlrepro.nn.dropout import Dropout
from xlrepro.nn.mixture_of_experts import Experts
from xlrepro.nn.pooling import ConvolutionPooling
from xlrepro.papers.man_moe.encoding import TextBatch, WordTable
from xlrepro.papers.man_moe.model import FeatureExtractor, ManMoe
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.papers.man_moe.training import WEIGHT_DECAY, StepBatches


class LoopConvolution(nn.Module):
    """Convolutions, ReLU, maximum over the windows that begin at an item."""

    def __init__(self, maps: Sequence[nn.Linear], widths: Sequence[int], dim: int) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.convolutions = nn.ModuleList()
        for linear, width in zip(maps, widths, strict=True):
            layer = nn.Conv1d(dim, linear.out_features, width)
            with torch.no_grad():
                layer.weight.copy_(linear.weight.view(-1, width, dim).transpose(1, 2))
                layer.bias.copy_(linear.bias)
            self.convolutions.append(layer)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        found = []
        for layer, width in zip(self.convolutions, self.widths, strict=True):
            padded = functional.pad(x.transpose(1, 2), (0, width - 1))
            values = functional.relu(layer(padded))
            found.append(values.masked_fill(~mask.unsqueeze(1), 0).amax(2))
        return torch.cat(found, -1)


class LoopExtractor(nn.Module):
    """A bidirectional LSTM on packed batches."""

    def __init__(self, ours: FeatureExtractor, dropout: float) -> None:
        super().__init__()
        first = ours.layers[0].lstm
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(
            first.input_size,
            first.hidden_size,
            len(ours.layers),
            batch_first=True,
            bidirectional=True,
            dropout=dropout if len(ours.layers) > 1 else 0.0,
        )
        with torch.no_grad():
            for number, layer in enumerate(ours.layers):
                for suffix in ("", "_reverse"):
                    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                        theirs = getattr(self.lstm, f"{name}_l{number}{suffix}")
                        theirs.copy_(getattr(layer.lstm, f"{name}_l0{suffix}"))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1).cpu()
        packed = pack_padded_sequence(
            self.dropout(x), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = self.lstm(packed)
        return pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])[0]


def loop_experts(ours: Experts, dropout: float) -> nn.ModuleList:
    """Return the experts as modules of their own."""
    found = nn.ModuleList()
    for i in range(ours.experts):
        inner = nn.Linear(ours.inner.shape[2], ours.inner.shape[1])
        outer = nn.Linear(ours.outer.shape[2], ours.outer.shape[1])
        with torch.no_grad():
            inner.weight.copy_(ours.inner[i])
            inner.bias.copy_(ours.inner_bias[i])
            outer.weight.copy_(ours.outer[i])
            outer.bias.copy_(ours.outer_bias[i])
        layers = (nn.Dropout(dropout), inner, nn.ReLU(), nn.Dropout(dropout), outer)
        found.append(nn.Sequential(*layers))
    return found


class LoopManMoe(nn.Module):
    """The whole model, with the weights of one of ours; for tagging, all parts there.

    Args:
        ours: the model whose weights it starts from.
        dropout: as in ours.
    """

    def __init__(self, ours: ManMoe, dropout: float) -> None:
        super().__init__()
        char_cnn, private, discriminator = ours.words.char_cnn, ours.private, ours.discriminator
        assert isinstance(char_cnn, CharCNN)
        assert private is not None
        assert discriminator is not None
        vectors = functional.pad(char_cnn.embedding.detach(), (0, 0, 1, 0))
        self.characters = nn.Embedding.from_pretrained(vectors, freeze=True, padding_idx=0)
        self.char_cnn = LoopConvolution(char_cnn.maps, char_cnn.kernel_sizes, vectors.shape[1])
        self.char_output = _copy(char_cnn.output)
        self.shared = LoopExtractor(ours.shared, dropout)
        self.private = LoopExtractor(private.extract, dropout)
        self.private_experts = loop_experts(private.experts, dropout)
        self.private_gate = _copy(private.gate.linear)
        self.experts = loop_experts(ours.predictor.experts, dropout)
        assert ours.predictor.gate is not None
        self.gate = _copy(ours.predictor.gate.linear)
        pool = discriminator.pool
        assert isinstance(pool, ConvolutionPooling)
        self.critic = LoopConvolution(
            pool.maps, pool.kernel_sizes, 2 * self.shared.lstm.hidden_size
        )
        self.critic_top = nn.Sequential(
            *(_copy(m) if isinstance(m, nn.Linear) else type(m)() for m in _plain(discriminator))
        )

    def words(self, rows: Tensor, mask: Tensor, table: WordTable) -> Tensor:
        """Represent each token, one after the other spelt anew."""
        spelled = table.characters[table.spellings[rows]]
        batch, length, _ = spelled.shape
        width = max(1, int((spelled > 0).sum(2).max()))
        flat = spelled[..., :width].reshape(batch * length, width)
        features = self.char_cnn(self.characters(flat), flat > 0)
        characters = functional.relu(self.char_output(features)).view(batch, length, -1)
        return torch.cat((table.vectors[rows], characters), -1)

    def language(self, shared: Tensor, mask: Tensor) -> Tensor:
        """Return D's log-probabilities."""
        return self.critic_top(self.critic(shared, mask)).log_softmax(-1)

    def predict(self, words: Tensor, shared: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-probabilities and the logits of both gates, of each token."""
        hidden = self.private(words, mask)[mask]
        first = self.private_gate(hidden.detach())
        weights = first.softmax(-1)
        private = hidden.new_zeros(())
        for i, expert in enumerate(self.private_experts):
            private = private + weights[:, i : i + 1] * expert(hidden).tanh()
        features = torch.cat((shared[mask], private), -1)
        second = self.gate(features.detach())
        weights = second.softmax(-1)
        mixed = features.new_zeros(())
        for i, expert in enumerate(self.experts):
            mixed = mixed + weights[:, i : i + 1] * expert(features).log_softmax(-1)
        return mixed, first, second


def _copy(layer: nn.Linear) -> nn.Linear:
    copied = nn.Linear(layer.in_features, layer.out_features, bias=layer.bias is not None)
    copied.load_state_dict(layer.state_dict())
    return copied


def _plain(discriminator: nn.Module) -> list[nn.Module]:
    return [m for m in discriminator.classify if not isinstance(m, Dropout)]


class LoopTrainer:
    """Algorithm 1 line by line.

    Args:
        model: what is trained.
        table: the words of all texts.
        settings: loss weights and optimisers.
    """

    def __init__(self, model: LoopManMoe, table: WordTable, settings: TransferSettings) -> None:
        self.model, self.table, self.settings = model, table, settings
        critic = [*model.critic.parameters(), *model.critic_top.parameters()]
        known = {id(p) for p in critic}
        rest = [p for p in model.parameters() if id(p) not in known and p.requires_grad]
        self.critic_parameters = critic
        rate, decay = settings.learning_rate, WEIGHT_DECAY
        self.critic_optimizer = torch.optim.Adam(critic, lr=rate, weight_decay=decay)
        self.optimizer = torch.optim.Adam(rest, lr=rate, weight_decay=decay)

    def step(self, batches: StepBatches) -> float:
        """Do one main iteration and return its loss."""
        for batch in batches.critics:
            self.critic_optimizer.zero_grad(set_to_none=True)
            for part, language in by_language(batch):
                with torch.no_grad():
                    words = self.model.words(part.rows, part.mask, self.table)
                    shared = self.model.shared(words, part.mask)
                self._language_loss(shared, part, language).backward()
            self.critic_optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.main_backward(batches)
        self.optimizer.step()
        return loss

    def main_backward(self, batches: StepBatches) -> float:
        """Accumulate the gradient of J language by language, and return J."""
        total = 0.0
        for part, language in by_language(batches.labelled):
            words = self.model.words(part.rows, part.mask, self.table)
            shared = self.model.shared(words, part.mask)
            log_probabilities, first, second = self.model.predict(words, shared, part.mask)
            expert = torch.full((len(first),), language, device=first.device)
            gates = functional.cross_entropy(first, expert)
            gates = gates + functional.cross_entropy(second, expert)
            loss = functional.nll_loss(log_probabilities, part.gold) + self.settings.lambda2 * gates
            loss.backward()
            total += float(loss.detach())
        assert batches.unlabelled is not None
        for parameter in self.critic_parameters:
            parameter.requires_grad_(False)
        for part, language in by_language(batches.unlabelled):
            words = self.model.words(part.rows, part.mask, self.table)
            shared = self.model.shared(words, part.mask)
            loss = -self.settings.lambda1 * self._language_loss(shared, part, language)
            loss.backward()
            total += float(loss.detach())
        for parameter in self.critic_parameters:
            parameter.requires_grad_(True)
        return total

    def _language_loss(self, shared: Tensor, batch: TextBatch, language: int) -> Tensor:
        expected = torch.full((len(batch.rows),), language, device=shared.device)
        return functional.nll_loss(self.model.language(shared, batch.mask), expected)


def by_language(batch: TextBatch) -> list[tuple[TextBatch, int]]:
    """Return a batch of several languages as one batch each, padded no more than it needs."""
    found = []
    lengths = batch.mask.sum(1)
    of_token = batch.languages[:, None].expand_as(batch.mask)[batch.mask]
    for language in batch.languages.unique().tolist():
        own = batch.languages == language
        longest = int(lengths[own].max())
        gold = batch.gold[of_token == language] if len(batch.gold) else batch.gold
        rows, mask = batch.rows[own, :longest], batch.mask[own, :longest]
        found.append((TextBatch(rows, mask, batch.languages[own], gold), language))
    return found
