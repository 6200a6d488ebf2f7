"""The attentional sequence-to-sequence model of all four systems (§2, §3.3), and greedy decoding.

A system is a model whose recurrent part is either stacked layers (NMT, full and partial sharing) or
one routed unit per direction and decoder. Attention is additive (Bahdanau et al. 2015) and shared
by all tasks; a task has a target vocabulary and an output layer of its own. What the paper leaves
open follows its base system, Mantis: the encoder reads both ways, a decoder step reads the context
beside the last word, and the output layer reads the last word beside state and context.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from xlrepro.nn.dropout import Dropout
from xlrepro.nn.recurrent import mirrored_steps
from xlrepro.papers.routing_nmt.recurrent import RoutedUnit, StackedUnit, scan
from xlrepro.papers.routing_nmt.settings import DIRECTIONS, SHARED_BLOCKS

PAD, START, END, UNKNOWN = range(4)  # numbers of the special tokens in every vocabulary


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
        width: of embeddings and of the hidden layer.
        state_dim: width of h_t.
        memory_dim: width of c_t.
        dropout: on the hidden layer.
    """

    def __init__(
        self, vocabulary: int, width: int, state_dim: int, memory_dim: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = _embedding(vocabulary, width)
        self.hidden = _linear(state_dim + memory_dim + width, width)
        self.output = _linear(width, vocabulary)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, contexts: Tensor, words: Tensor) -> Tensor:
        """Return the scores of all target tokens, ``(..., vocabulary)``.

        Args:
            states: h_t, ``(..., state)``.
            contexts: c_t, ``(..., memory)``.
            words: embeddings of y_{t-1}, ``(..., embedding)``.
        """
        hidden = self.hidden(torch.cat((states, contexts, words), -1)).tanh()
        return self.output(self.dropout(hidden))


class DecoderState(NamedTuple):
    """The recurrent part's state and c_t, ``(batch, memory)``."""

    unit: Any
    context: Tensor


class Decoder(nn.Module):
    """Attention and recurrent part of the decoder.

    Args:
        unit: the recurrent part; it reads [e(y_{t-1}) ; c_t].
        memory_dim: width of c_t.
        width: of embeddings and of the attention's hidden layer.
    """

    def __init__(self, unit: RoutedUnit | StackedUnit, memory_dim: int, width: int) -> None:
        super().__init__()
        self.unit, self.width = unit, width
        self.query = _linear(unit.output_dim, width, bias=False)
        self.key = _linear(memory_dim, width)
        self.weight = nn.Parameter(torch.empty(1, width))
        nn.init.xavier_uniform_(self.weight)


class TiedDecoder:
    """A decoder with the weights that one task uses, over one batch of encoded sentences."""

    def __init__(self, decoder: Decoder, task: str, memory: Memory) -> None:
        self._decoder, self._memory = decoder, memory
        self._unit: Any = decoder.unit.tied(task)
        # W c_t = sum_j alpha_j (W m_j): projected once per source token, weighed at each step
        # shape: (batch, length, inputs)
        self._read = self._unit.project(memory.states, first=decoder.width)

    def project(self, words: Tensor) -> Tensor:
        """Return what ``(length, batch, embedding)`` words give to each step."""
        return self._unit.project(words)

    def start(self, length: int = 0) -> DecoderState:
        """Return the zero state; ``length``: of the target in training, for dropout."""
        first = self._memory.states[:, 0]
        return DecoderState(self._unit.start(first, length), torch.zeros_like(first))

    def step(self, given: Tensor, state: DecoderState) -> DecoderState:
        """Return the state after reading one word; ``given``: a row of `project`."""
        memory, decoder = self._memory, self._decoder
        # e_j = v . tanh(W_a h_{t-1} + U_a m_j)
        hidden = (memory.keys + decoder.query(state.unit.output).unsqueeze(1)).tanh()
        energies = (hidden @ decoder.weight[0]).masked_fill(~memory.mask, -math.inf)
        # row i, column j: how much the step of sentence i looks at its token j
        # shape: (batch, 1, length)
        look = energies.softmax(-1).unsqueeze(1)
        # shape: (batch, memory)
        context = torch.bmm(look, memory.states).squeeze(1)
        given = given + torch.bmm(look, self._read).squeeze(1)
        return DecoderState(self._unit.step(given, state.unit), context)


class MultiTaskModel(nn.Module):
    """One encoder, one attention, one decoder, and a readout per task.

    Args:
        source_vocabulary: number of source tokens, the tags of tasks among them.
        target_vocabularies: task to number of its target tokens; the order is the tasks' order.
        shared: of stacked layers, for ``"encoder"`` and ``"decoder"``, from the lowest: True where
            all tasks share the layer. ``None``: routed units.
        width: of blocks, layers, embeddings, and the attention's and the router's hidden layer.
        dropout: on the inputs and outputs of units.
    """

    def __init__(
        self,
        source_vocabulary: int,
        target_vocabularies: Mapping[str, int],
        shared: Mapping[str, Sequence[bool]] | None,
        width: int,
        dropout: float,
    ) -> None:
        super().__init__()
        tasks = tuple(target_vocabularies)

        def unit(part: str, input_dim: int) -> RoutedUnit | StackedUnit:
            if shared is None:
                return RoutedUnit(input_dim, width, SHARED_BLOCKS, tasks)
            return StackedUnit(input_dim, width, shared[part], tasks, dropout)

        self.embedding = _embedding(source_vocabulary, width)
        readers = [unit("encoder", width) for _ in DIRECTIONS]
        self.directions = nn.ModuleList(readers)
        memory_dim = sum(reader.output_dim for reader in readers)
        writer = unit("decoder", width + memory_dim)
        self.decoder = Decoder(writer, memory_dim, width)
        sizes = width, writer.output_dim, memory_dim, dropout
        readouts = {task: Readout(tokens, *sizes) for task, tokens in target_vocabularies.items()}
        self.readouts = nn.ModuleDict(readouts)
        self.dropout = Dropout(dropout)

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
            # padding is on the right, so both directions meet it last
            read, tau = scan(unit.tied(task), words[mirrored, column] if number else words)  # type: ignore[operator]
            states.append(read[mirrored, column] if number else read)
            if tau is not None:
                taus.append(tau[mirrored, column] if number else tau)
        # shape: (batch, length, memory)
        memory = self.dropout(torch.cat(states, -1)).transpose(0, 1).contiguous()
        mask = torch.arange(source.shape[1], device=source.device) < lengths.unsqueeze(1)
        return Memory(memory, self.decoder.key(memory), mask, torch.stack(taus) if taus else None)

    def scores(self, task: str, memory: Memory, target_inputs: Tensor) -> Tensor:
        """Return the scores of the next token after each prefix, teacher-forced.

        Args:
            task: name of the task.
            memory: the encoded sentences.
            target_inputs: y_0 … y_{T-1} with y_0 the start, ``(batch, length)``.

        Returns:
            ``(length, batch, vocabulary)``.
        """
        readout, decoder = self.readout(task), TiedDecoder(self.decoder, task, memory)
        words = self.dropout(readout.embedding(target_inputs.T))
        state, states, contexts = decoder.start(len(words)), [], []
        for given in decoder.project(words):
            state = decoder.step(given, state)
            states.append(state.unit.output)
            contexts.append(state.context)
        return readout(self.dropout(torch.stack(states)), torch.stack(contexts), words)

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
        gold = target[:, 1:].T.reshape(-1)
        scores = scores.reshape(-1, scores.shape[-1])
        return nn.functional.cross_entropy(scores, gold, ignore_index=PAD, reduction="sum")

    @torch.inference_mode()
    def greedy(
        self, task: str, source: Tensor, lengths: Tensor, limits: Sequence[int]
    ) -> list[list[int]]:
        """Return the likeliest next token after each other, until the end or the limit.

        Args:
            task: name of the task.
            source: ``(batch, length)``, padded on the right.
            lengths: tokens of each source sentence, ``(batch,)``.
            limits: the most tokens for each sentence.

        Returns:
            The tokens of each sentence, without start and end.
        """
        readout = self.readout(task)
        decoder = TiedDecoder(self.decoder, task, self.encode(task, source, lengths))
        state = decoder.start()
        last = torch.full((len(source),), START, device=source.device)
        most = torch.tensor(list(limits), device=source.device)
        done, tokens = most <= 0, []
        for step in range(max(limits, default=0)):
            # shape: (1, batch, embedding)
            words = readout.embedding(last).unsqueeze(0)
            state = decoder.step(decoder.project(words)[0], state)
            scores = readout(state.unit.output, state.context, words[0])
            scores[:, PAD] = scores[:, START] = -torch.inf  # they are no output
            last = scores.argmax(-1).masked_fill(done, END)
            tokens.append(last)
            done = done | (last == END) | (most <= step + 1)
            if bool(done.all()):
                break
        rows = torch.stack(tokens, 1).tolist() if tokens else [[] for _ in limits]
        cut = (row[:limit] for row, limit in zip(rows, limits, strict=True))
        return [row[: row.index(END)] if END in row else row for row in cut]


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
