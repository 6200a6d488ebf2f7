"""The attentional sequence-to-sequence model of all four systems (§2, §3.3).

A system is a model whose recurrent part is either stacked layers (NMT, full and partial sharing) or
one routed unit per direction and decoder. Attention is additive (Bahdanau et al. 2015) and shared
by all tasks; a task has a target vocabulary and an output layer of its own. What the paper leaves
open follows its base system, Mantis, and is an argument here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from xlrepro.nn.dropout import Dropout
from xlrepro.nn.recurrent import mirrored_steps
from xlrepro.papers.routing_nmt.gru_blocks import ResetGate
from xlrepro.papers.routing_nmt.loops import decode
from xlrepro.papers.routing_nmt.routed_unit import RoutedUnit
from xlrepro.papers.routing_nmt.stacked_unit import StackedUnit

PAD, START, END, UNKNOWN = range(4)  # numbers of the special tokens in every vocabulary
DecoderInput = Literal["word_and_context", "word"]
OutputLayer = Literal["state_context_word", "state_context"]


@dataclass(frozen=True)
class Sizes:
    """Sizes of a model and the choices that the paper leaves open.

    Attributes:
        hidden: width of a block or layer; also of the output layer.
        embedding: width of word embeddings.
        attention: width of the attention's hidden layer.
        router: width of s_t.
        bidirectional: whether the encoder reads both ways.
        reset_gate: see `next_states`.
        decoder_input: whether a decoder step reads the context beside the last word.
        output_layer: what the output layer reads.
        dropout: on the inputs and outputs of units.
    """

    hidden: int = 400
    embedding: int = 400
    attention: int = 400
    router: int = 400
    bidirectional: bool = True
    reset_gate: ResetGate = "before"
    decoder_input: DecoderInput = "word_and_context"
    output_layer: OutputLayer = "state_context_word"
    dropout: float = 0.5


@dataclass(frozen=True)
class Stacked:
    """Layers of encoder and decoder, from the lowest: True where all tasks share the layer."""

    encoder: tuple[bool, ...]
    decoder: tuple[bool, ...]


@dataclass(frozen=True)
class Routed:
    """One routed unit per direction and decoder, each with so many shared blocks."""

    shared_blocks: int


Unit = RoutedUnit | StackedUnit


class Memory(NamedTuple):
    """A batch of encoded sentences.

    Attributes:
        states: m_j, ``(batch, length, memory)``.
        keys: U_a m_j, computed once per sentence, ``(batch, length, attention)``.
        mask: True at tokens, ``(batch, length)``.
        taus: of each direction, ``(directions, length, batch, shared)``, or ``None``.
    """

    states: Tensor
    keys: Tensor
    mask: Tensor
    taus: Tensor | None


class Readout(nn.Module):
    """A task's target embeddings and output layer: R tanh(Y h_t + Q c_t + P e(y_{t-1}) + a) + b.

    Args:
        vocabulary: number of target tokens.
        sizes: of the model.
        state_dim: width of h_t.
        memory_dim: width of c_t.
    """

    def __init__(self, vocabulary: int, sizes: Sizes, state_dim: int, memory_dim: int) -> None:
        super().__init__()
        self.embedding = _embedding(vocabulary, sizes.embedding)
        self.reads_word = sizes.output_layer == "state_context_word"
        width = state_dim + memory_dim + (sizes.embedding if self.reads_word else 0)
        self.hidden = _linear(width, sizes.hidden)
        self.output = _linear(sizes.hidden, vocabulary)
        self.dropout = Dropout(sizes.dropout)

    def forward(self, states: Tensor, contexts: Tensor, words: Tensor) -> Tensor:
        """Return the scores of all target tokens, ``(..., vocabulary)``.

        Args:
            states: h_t, ``(..., state)``.
            contexts: c_t, ``(..., memory)``.
            words: embeddings of y_{t-1}, ``(..., embedding)``.
        """
        parts = (states, contexts, words) if self.reads_word else (states, contexts)
        scores: Tensor = self.output(self.dropout(self.hidden(torch.cat(parts, -1)).tanh()))
        return scores


class Attention(nn.Module):
    """Additive attention: e_j = v . tanh(W_a h_{t-1} + U_a m_j)."""

    def __init__(self, state_dim: int, memory_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.query = _linear(state_dim, attention_dim, bias=False)
        self.key = _linear(memory_dim, attention_dim)
        self.weight = nn.Parameter(torch.empty(1, attention_dim))
        nn.init.xavier_uniform_(self.weight)


class Decoder(nn.Module):
    """Attention and recurrent part of the decoder.

    Args:
        unit: the recurrent part; it reads [e(y_{t-1}) ; c_t], or e(y_{t-1}) alone.
        attention: the attention.
        sizes: of the model.
    """

    def __init__(self, unit: Unit, attention: Attention, sizes: Sizes) -> None:
        super().__init__()
        self.unit, self.attention = unit, attention
        self.embedding_dim = sizes.embedding
        self.reads_context = sizes.decoder_input == "word_and_context"

    def tied(self, task: str, memory: Memory) -> "TiedDecoder":
        """Return the decoder as a task uses it, for one batch."""
        return TiedDecoder(self, task, memory)


class DecoderState(NamedTuple):
    """The recurrent part's state and c_t, ``(batch, memory)``."""

    unit: Any
    context: Tensor


class TiedDecoder:
    """A decoder with the weights that one task uses, over one batch of encoded sentences."""

    def __init__(self, decoder: Decoder, task: str, memory: Memory) -> None:
        self._unit = decoder.unit.tied(task)
        self._memory = memory
        attention = decoder.attention
        self._query, self._energy = attention.query.weight.T, attention.weight[0]
        # W c_t = sum_j alpha_j (W m_j): projected once per source token, weighed at each step
        # shape: (batch, length, inputs)
        self._read = (
            self._unit.project(memory.states, decoder.embedding_dim)
            if decoder.reads_context
            else None
        )

    def project(self, words: Tensor) -> Tensor:
        """Return what ``(length, batch, embedding)`` words give to each step."""
        return self._unit.project(words)

    def run(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return h_t, ``(length, batch, state)``, and c_t, ``(length, batch, memory)``.

        Args:
            words: embeddings of y_{t-1}, ``(length, batch, embedding)``.
        """
        memory, unit = self._memory, self._unit
        attention = (memory.keys, memory.mask, self._query, self._energy)
        outputs, looks = decode(
            unit.tape, self.project(words), self._read, attention, unit.output_dim, unit.weights
        )
        return outputs, torch.bmm(looks.transpose(0, 1), memory.states).transpose(0, 1)

    def start(self) -> DecoderState:
        """Return the zero state."""
        states = self._memory.states
        return DecoderState(self._unit.start(states[:, 0]), torch.zeros_like(states[:, 0]))

    def output(self, state: DecoderState) -> Tensor:
        """Return h_t, ``(batch, state)``."""
        return self._unit.output(state.unit)

    def step(self, given: Tensor, state: DecoderState) -> DecoderState:
        """Return the state after reading one word, written out; ``given``: a row of `project`."""
        look = self._attend(self._unit.output(state.unit)).unsqueeze(1)
        # shape: (batch, memory)
        context = torch.bmm(look, self._memory.states).squeeze(1)
        if self._read is not None:
            given = given + torch.bmm(look, self._read).squeeze(1)
        return DecoderState(self._unit.step(given, state.unit), context)

    def _attend(self, state: Tensor) -> Tensor:
        """Row i, column j: how much the step of sentence i looks at its token j."""
        hidden = (self._memory.keys + (state @ self._query).unsqueeze(1)).tanh()
        energies = hidden @ self._energy
        return energies.masked_fill(~self._memory.mask, -math.inf).softmax(-1)


class MultiTaskModel(nn.Module):
    """One encoder, one attention, one decoder, and a readout per task.

    Args:
        source_vocabulary: number of source tokens, the tags of tasks among them.
        target_vocabularies: task to number of its target tokens; the order is the tasks' order.
        recurrent: which recurrent part, and what of it is shared.
        sizes: sizes and open choices.
    """

    def __init__(
        self,
        source_vocabulary: int,
        target_vocabularies: Mapping[str, int],
        recurrent: Stacked | Routed,
        sizes: Sizes,
    ) -> None:
        super().__init__()
        tasks = tuple(target_vocabularies)
        self.embedding = _embedding(source_vocabulary, sizes.embedding)
        self.directions = nn.ModuleList(
            _unit(recurrent, "encoder", sizes.embedding, tasks, sizes)
            for _ in range(2 if sizes.bidirectional else 1)
        )
        memory_dim = sum(int(unit.output_dim) for unit in self.directions)  # type: ignore[arg-type,misc]
        reads = memory_dim if sizes.decoder_input == "word_and_context" else 0
        unit = _unit(recurrent, "decoder", sizes.embedding + reads, tasks, sizes)
        attention = Attention(unit.output_dim, memory_dim, sizes.attention)
        self.decoder = Decoder(unit, attention, sizes)
        self.readouts = nn.ModuleDict(
            {
                task: Readout(vocabulary, sizes, unit.output_dim, memory_dim)
                for task, vocabulary in target_vocabularies.items()
            }
        )
        self.dropout = Dropout(sizes.dropout)

    def readout(self, task: str) -> Readout:
        """Return a task's readout."""
        readout = self.readouts[task]
        assert isinstance(readout, Readout)
        return readout

    def encode(self, task: str, source: Tensor, lengths: Tensor) -> Memory:
        """Read source sentences.

        Args:
            task: name of the task.
            source: tokens, padded on the right, ``(batch, length)``.
            lengths: tokens of each sentence, ``(batch,)``.
        """
        # shape: (length, batch, embedding)
        words = self.dropout(self.embedding(source.T))
        mirrored = mirrored_steps(lengths, source.shape[1])
        column = torch.arange(source.shape[0], device=source.device)
        states, taus = [], []
        for number, unit in enumerate(self.directions):
            tied = unit.tied(task)  # type: ignore[operator]
            # padding is on the right, so both directions meet it last
            read, tau = tied.scan(words[mirrored, column] if number else words)
            states.append(read[mirrored, column] if number else read)
            if tau is not None:
                taus.append(tau[mirrored, column] if number else tau)
        # shape: (batch, length, memory)
        memory = self.dropout(torch.cat(states, -1)).transpose(0, 1).contiguous()
        mask = torch.arange(source.shape[1], device=source.device) < lengths.unsqueeze(1)
        keys = self.decoder.attention.key(memory)
        return Memory(memory, keys, mask, torch.stack(taus) if taus else None)

    def scores(self, task: str, memory: Memory, target_inputs: Tensor) -> Tensor:
        """Return the scores of the next token after each prefix, teacher-forced.

        Args:
            task: name of the task.
            memory: the encoded sentences.
            target_inputs: y_0 … y_{T-1} with y_0 the start, ``(batch, length)``.

        Returns:
            ``(length, batch, vocabulary)``.
        """
        readout = self.readout(task)
        words = self.dropout(readout.embedding(target_inputs.T))
        states, contexts = self.decoder.tied(task, memory).run(words)
        scores: Tensor = readout(self.dropout(states), contexts, words)
        return scores

    def loss(self, task: str, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """Return the negative log-likelihood of the targets, summed over tokens, in nats.

        Args:
            task: name of the task.
            source: ``(batch, source length)``, padded on the right.
            lengths: tokens of each source sentence, ``(batch,)``.
            target: start, tokens, end, then padding, ``(batch, target length)``.
        """
        memory = self.encode(task, source, lengths)
        scores = self.scores(task, memory, target[:, :-1])
        gold = target[:, 1:].T
        return nn.functional.cross_entropy(
            scores.reshape(-1, scores.shape[-1]),
            gold.reshape(-1),
            ignore_index=PAD,
            reduction="sum",
        )


def _unit(
    recurrent: Stacked | Routed, part: str, input_dim: int, tasks: Sequence[str], sizes: Sizes
) -> Unit:
    if isinstance(recurrent, Routed):
        return RoutedUnit(
            input_dim,
            sizes.hidden,
            recurrent.shared_blocks,
            tasks,
            sizes.router,
            sizes.reset_gate,
        )
    shared = getattr(recurrent, part)
    return StackedUnit(input_dim, sizes.hidden, shared, tasks, sizes.dropout, sizes.reset_gate)


def _linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def _embedding(vocabulary: int, dim: int) -> nn.Embedding:
    """Embeddings of padding are zero; the others as Glorot's, by the width alone."""
    table = nn.Embedding(vocabulary, dim, padding_idx=PAD)
    bound = math.sqrt(3.0 / dim)
    nn.init.uniform_(table.weight, -bound, bound)
    with torch.no_grad():
        table.weight[PAD] = 0
    return table
