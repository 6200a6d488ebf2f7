"""The bilingual masked language model (§2, Fig. 1): one encoder, a side for each language.

    [c_1 … c_n] = Ψ(E_l[w_1] … E_l[w_n]; θ)          states, of language l
    p(y_i | c_i) ∝ exp(h(c_i)ᵀ E_l[y_i] + b_l[y_i])  h: the prediction transform, shared

Each language has its own embeddings E_l, tied to its own output layer, and its own output bias.
Shared are positions, layers, and the transform (dense, GELU, layer normalisation): as in the
authors' code. No piece is shared between languages, not even one of the same spelling.
"""

import copy
from collections.abc import Iterator

from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.bert import Bert, MaskedLanguageModel

ENGLISH = "en"


class Side(nn.Module):
    """What belongs to one language: its embeddings and its output bias.

    Args:
        embeddings: E_l. ``(pieces, dim)``
        bias: b_l. ``(pieces,)``
    """

    def __init__(self, embeddings: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.pieces = nn.Embedding.from_pretrained(embeddings.clone(), freeze=False)
        self.bias = nn.Parameter(bias.clone())


class BilingualModel(nn.Module):
    """An English masked language model, and the languages that it has been given.

    Args:
        english: the model to begin with; its weights are taken over, not copied.

    Example:
        >>> import torch
        >>> from xlrepro.nn.bert import BertSizes
        >>> model = BilingualModel(MaskedLanguageModel(BertSizes(9, 8, 1, 2, 16, 6)))
        >>> model.add("fr", torch.zeros(7, 8), torch.zeros(7))
        >>> ids = torch.tensor([[0, 5, 6]])
        >>> model("fr", ids, ids > 4).shape  # two hidden pieces, seven French ones
        torch.Size([2, 7])
    """

    def __init__(self, english: MaskedLanguageModel) -> None:
        super().__init__()
        self.encoder = english.bert
        self.transform, self.norm = english.transform, english.norm
        side = Side(english.bert.pieces.weight.detach(), english.bias.detach())
        self.sides = nn.ModuleDict({ENGLISH: side})
        self.encoder.pieces = nn.Identity()  # type: ignore[assignment]  # a side's take its place

    def add(self, language: str, embeddings: Tensor, bias: Tensor) -> None:
        """Give the model a language.

        Args:
            language: its code.
            embeddings: E_f, to begin with. ``(pieces, dim)``
            bias: of its output layer, to begin with. ``(pieces,)``
        """
        self.sides[language] = Side(embeddings, bias)

    def side(self, language: str) -> Side:
        """Return a language's side."""
        side = self.sides[language]
        assert isinstance(side, Side)
        return side

    def in_language(self, language: str) -> Bert:
        """Return the encoder as it reads a language; it shares every weight with this model."""
        pieces = self.side(language).pieces
        view = copy.copy(self.encoder)
        view._modules = {**self.encoder._modules, "pieces": pieces}
        view.sizes = self.encoder.sizes._replace(vocabulary=pieces.num_embeddings)
        return view

    def forward(
        self, language: str, ids: Tensor, hidden: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Return a score per piece of the language, at the hidden positions alone.

        Args:
            language: of the batch.
            ids: pieces of that language, some replaced by its mask. ``(batch, length)``
            hidden: True where a piece is to be named. ``(batch, length)``
            mask: True at pieces; None: no padding. ``(batch, length)``

        Returns:
            ``(hidden positions, pieces of the language)``, in the order of ``ids[hidden]``
        """
        side = self.side(language)
        # Before the output layer: hidden positions alone, a seventh of all.
        # shape: (hidden positions, dim), then (hidden positions, pieces)
        x = self.in_language(language)(ids, mask)[hidden]
        x = self.norm(functional.gelu(self.transform(x)))
        return x @ side.pieces.weight.T + side.bias

    def parts(self, what: str, target: str) -> Iterator[nn.Parameter]:
        """Yield the parameters that a stage tunes.

        Args:
            what: ``"head"``: the prediction transform and English's output bias; ``"embeddings"``:
                the target's embeddings and output bias; ``"all"``: everything but the sides of
                other languages than English and the target.
            target: the language.
        """
        if what == "head":
            yield from self.transform.parameters()
            yield from self.norm.parameters()
            yield self.side(ENGLISH).bias
        elif what == "embeddings":
            yield from self.side(target).parameters()
        else:
            for part in (self.encoder, self.transform, self.norm):
                yield from part.parameters()
            for language in dict.fromkeys((ENGLISH, target)):
                yield from self.side(language).parameters()
