"""The bilingual masked language model (§2, Fig. 1): one encoder, a side for each language.

    [c_1 … c_n] = Ψ(E_l[w_1] … E_l[w_n]; θ)          states, of language l
    p(y_i | c_i) ∝ exp(h(c_i)ᵀ E_l[y_i] + b_l[y_i])  h: the prediction transform, shared

Each language has its own embeddings E_l, tied to its own output layer, and its own output bias.
Shared are positions, layers, and the transform (dense, GELU, layer normalisation): as in the
authors' code. No subword is shared between languages, not even one of the same spelling.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from xlrepro.encoders.pretrained import read_model, states_of

ENGLISH = "en"


class English(NamedTuple):
    """An English masked language model in parts.

    Attributes:
        encoder: of transformers, without a head.
        transform, norm: the prediction transform.
        embeddings: E_e. ``(subwords, dim)``
        bias: of the output layer. ``(subwords,)``
    """

    encoder: Any
    transform: nn.Linear
    norm: nn.LayerNorm
    embeddings: Tensor
    bias: Tensor


def english_model(name: str, dropout: float) -> English:
    """Return the English model before stage 0; an encoder without a head has a new one.

    Args:
        name: of the encoder, see :mod:`xlrepro.encoders`.
        dropout: everywhere, while it is tuned.

    Raises:
        DataError: if its files cannot be had or read.
    """
    whole, _ = read_model(name, "AutoModelForMaskedLM", dropout)
    if whole.config.model_type == "roberta":
        transform, norm, bias = whole.lm_head.dense, whole.lm_head.layer_norm, whole.lm_head.bias
    else:
        head = whole.cls.predictions
        transform, norm, bias = head.transform.dense, head.transform.LayerNorm, head.bias
    if whole.headless:  # drawn from torch's generator as BERT is: N(0, 0.02)
        nn.init.normal_(transform.weight, std=0.02)
        for parameter in (transform.bias, norm.bias, bias):
            nn.init.zeros_(parameter)
        nn.init.ones_(norm.weight)
    encoder = whole.base_model
    embeddings = encoder.get_input_embeddings().weight.detach()
    return English(encoder, transform, norm, embeddings, bias.detach())


class Side(nn.Module):
    """What belongs to one language: its embeddings and its output bias.

    Args:
        embeddings: E_l. ``(subwords, dim)``
        bias: b_l. ``(subwords,)``
    """

    def __init__(self, embeddings: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.embeddings = nn.Embedding.from_pretrained(embeddings.clone(), freeze=False)
        self.bias = nn.Parameter(bias.clone())


class BilingualModel(nn.Module):
    """An English masked language model, and the languages that it has been given.

    Args:
        english: the model to begin with; its weights are taken over, not copied.
    """

    def __init__(self, english: English) -> None:
        super().__init__()
        self.encoder = english.encoder
        self.transform, self.norm = english.transform, english.norm
        self.sides = nn.ModuleDict({ENGLISH: Side(english.embeddings, english.bias)})
        self.encoder.set_input_embeddings(nn.Identity())  # a side's take their place

    def add(self, language: str, embeddings: Tensor, bias: Tensor) -> None:
        """Give the model a language.

        Args:
            language: its code.
            embeddings: E_f, to begin with. ``(subwords, dim)``
            bias: of its output layer, to begin with. ``(subwords,)``
        """
        self.sides[language] = Side(embeddings, bias)

    def side(self, language: str) -> Side:
        """Return a language's side."""
        side = self.sides[language]
        assert isinstance(side, Side)
        return side

    def states(self, language: str, ids: Tensor) -> Tensor:
        """Return the states of a batch of a language without padding, ``(batch, length, dim)``."""
        return states_of(self.encoder, ids, None, self.side(language).embeddings)

    def forward(self, language: str, ids: Tensor, hidden: Tensor) -> Tensor:
        """Return a score per subword of the language, at the hidden positions alone.

        Args:
            language: of the batch.
            ids: subwords of that language, some replaced by its mask. ``(batch, length)``
            hidden: True where a subword is to be named. ``(batch, length)``

        Returns:
            ``(hidden positions, subwords of the language)``, in the order of ``ids[hidden]``
        """
        side = self.side(language)
        # Before the output layer: hidden positions alone, a seventh of all.
        # shape: (hidden positions, dim), then (hidden positions, subwords)
        x = self.states(language, ids)[hidden]
        x = self.norm(functional.gelu(self.transform(x)))
        return x @ side.embeddings.weight.T + side.bias

    def parts(self, what: str, target: str) -> Iterator[nn.Parameter]:
        """Yield the parameters that a stage tunes.

        Args:
            what: ``"head"``: the prediction transform and English's output bias; ``"embeddings"``:
                the target's embeddings and output bias; ``"all"``: everything but the sides of
                other languages than English and the target.
            target: the language.
        """
        if what == "head":
            yield from (*self.transform.parameters(), *self.norm.parameters())
            yield self.side(ENGLISH).bias
        elif what == "embeddings":
            yield from self.side(target).parameters()
        else:
            for part in (self.encoder, self.transform, self.norm):
                for name, parameter in part.named_parameters():
                    if "token_type" not in name:  # one segment, whose vector is the positions'
                        yield parameter
            for language in dict.fromkeys((ENGLISH, target)):
                yield from self.side(language).parameters()
