"""A second device for a machine that has none: tensors that say so, and never mix with the CPU's.

``torch`` lets Python register a backend. Tensors on ``"pretended"`` hold CPU data and compute with
it, so a trial runs to its end and its numbers can be compared; an operation on tensors of two
devices is refused, as on a GPU, and so is NumPy's. What a GPU allows is allowed: numbers without
dimensions from the CPU, copies, indices from the CPU. Neither cuDNN nor half precision is covered.

    python -m tests.pretended_device [EXPERIMENT ...]

runs a smoke trial of each model there, prints a line for each, and exits with 1 if one failed.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from benchmarks.gpu import MODELS, numbers

NAME = "pretended"
aten = torch.ops.aten
INDEXED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default,
           aten._index_put_impl_.default}  # fmt: skip
# where a tensor of the CPU may stand beside others, as on a GPU
MIXED = {aten.copy_.default, aten._to_copy.default, aten.lift_fresh.default,
         aten._pack_padded_sequence.default,
         aten._pack_padded_sequence_backward.default}  # fmt: skip


class Pretended(torch.Tensor):
    """A tensor on the pretended device; ``held`` is its content, on the CPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> "Pretended":
        return torch.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), storage_offset=held.storage_offset(),
            dtype=held.dtype, layout=held.layout, device=torch.device(NAME, 0),
        )  # fmt: skip

    def __init__(self, held: torch.Tensor) -> None:
        self.held = held

    def tolist(self) -> Any:
        return self.held.detach().tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a tensor of another device is no NumPy array: take .cpu() first")

    __array__ = numpy

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"Pretended({self.held!r})"

    @classmethod
    def __torch_dispatch__(cls, operation: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(operation, args, kwargs or {})


class _Mode(TorchDispatchMode):
    """Sees what makes tensors, which has none among its arguments."""

    def __torch_dispatch__(self, operation: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(operation, args, kwargs or {})


class _Backend:
    """What torch asks the module of a backend for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # it stands among the modules: it has no file
            raise AttributeError(name)
        answers = {"is_available": True, "is_initialized": True, "device_count": 1}
        return lambda *_: answers.get(name, 0 if name == "current_device" else None)


def compute(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute an operation with what its tensors hold, and put the result where it belongs."""
    tensors = [x for x in _leaves([*args, *kwargs.values()]) if isinstance(x, torch.Tensor)]
    here = [x for x in tensors if isinstance(x, Pretended)]
    device = kwargs.get("device")
    there = bool(here) if device is None else torch.device(device).type == NAME
    if not here and not there:
        return operation(*args, **kwargs)
    _refuse_mixed(operation, args, here, tensors)
    if operation is aten._fused_sdp_choice.default:
        return 0  # plain products
    if operation is aten._pack_padded_sequence.default:
        data, sizes = operation(*_held(args))
        return Pretended(data), sizes  # the sizes stay on the CPU
    if cell := FUSED_CELLS.get(operation):
        return tuple(x if x is None else Pretended(x) for x in cell(*_held(args)))
    inside = {name: _held(x) for name, x in kwargs.items()}
    result = operation(*_held(args), **inside | ({"device": "cpu"} if device is not None else {}))
    if torch.Tag.inplace_view in operation.tags:
        with no_dispatch():
            operation(*args, **kwargs)
    written = [args[i] if i < len(args) else kwargs[name] for i, name in _written(operation)]
    if len(written) == 1 and isinstance(result, torch.Tensor):
        return written[0]
    if written:
        return tuple(written)
    return tree_map(lambda x: Pretended(x) if there and isinstance(x, torch.Tensor) else x, result)


def _leaves(values: Any) -> Iterator[Any]:
    for x in values:
        yield from _leaves(x) if isinstance(x, list | tuple) else (x,)


def _held(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [*map(_held, x)]
    return x.held if isinstance(x, Pretended) else x


def _saved(x: Any) -> Any:
    return x.held.detach().clone() if isinstance(x, Pretended) else x


def _refuse_mixed(operation: Any, args: Any, here: list[Any], tensors: list[Any]) -> None:
    other = [x for x in tensors if not isinstance(x, Pretended) and x.dim() > 0]
    if operation in INDEXED:  # what is indexed, and what is put there; not the indices
        other = [x for x in other if any(x is y for y in (args[0], *args[2:3]))]
    if here and other and operation not in MIXED:
        shapes = [tuple(x.shape) for x in other]
        raise RuntimeError(f"{operation} of two devices; on the CPU: {shapes}")


@cache
def _written(operation: Any) -> list[tuple[int, str]]:
    """Return number and name of the arguments that an operation writes into and gives back."""
    if not any(r.alias_info and r.alias_info.is_write for r in operation._schema.returns):
        return []
    arguments = enumerate(operation._schema.arguments)
    return [(i, a.name) for i, a in arguments if a.alias_info and a.alias_info.is_write]


def _lstm_cell(given: Any, hidden: Any, cell: Any, *biases: Any) -> Any:
    gates = sum((b for b in biases if b is not None), given + hidden).chunk(4, 1)
    i, f, c, o = gates[0].sigmoid(), gates[1].sigmoid(), gates[2].tanh(), gates[3].sigmoid()
    new = f * cell + i * c
    return o * new.tanh(), new, torch.cat((i, f, c, o), 1)


def _lstm_backward(of_hidden: Any, of_new: Any, cell: Any, new: Any, gates: Any, bias: bool) -> Any:
    i, f, c, o = gates.chunk(4, 1)
    t = new.tanh()
    of_hidden = torch.zeros_like(cell) if of_hidden is None else of_hidden
    d = of_hidden * o * (1 - t * t) + (0 if of_new is None else of_new)
    of_i, of_f = d * c * i * (1 - i), d * cell * f * (1 - f)
    of_c, of_o = d * i * (1 - c * c), of_hidden * t * o * (1 - o)
    of_gates = torch.cat((of_i, of_f, of_c, of_o), 1)
    return of_gates, d * f, of_gates.sum(0) if bias else None


FUSED_CELLS = {  # which the CPU lacks
    aten._thnn_fused_lstm_cell.default: _lstm_cell,
    aten._thnn_fused_lstm_cell_backward_impl.default: _lstm_backward,
}


@cache
def _register() -> torch.library.Library:
    """Tell torch of the device, and how what it makes without Python comes there."""
    _setup_privateuseone_for_python_backend(NAME, backend_module=_Backend())

    def empty_strided(size: Any, stride: Any, **kwargs: Any) -> torch.Tensor:
        return Pretended(torch.empty_strided(size, stride, **kwargs | {"device": "cpu"}))

    def copy_from(source: torch.Tensor, target: torch.Tensor, _: bool = False) -> torch.Tensor:
        _held(target).copy_(_held(source))
        return target

    library = torch.library.Library("aten", "IMPL")
    library.impl("empty_strided", empty_strided, "PrivateUse1")
    library.impl("_copy_from", copy_from, "PrivateUse1")
    return library


@contextmanager
def pretended_device() -> Iterator[str]:
    """Let torch have the device inside the block; yield its name."""
    _register()
    plain_save, plain_apply = torch.save, torch.nn.Module._apply

    def save(content: Any, *args: Any, **kwargs: Any) -> None:
        plain_save(tree_map(_saved, content), *args, **kwargs)

    def apply(module: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
        # another kind of tensor takes a parameter's place
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            return plain_apply(module, *args, **kwargs)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(False)

    with pytest.MonkeyPatch.context() as patch, torch.autograd.set_multithreading_enabled(False):
        patch.setattr(torch, "save", save)
        patch.setattr(torch.nn.Module, "_apply", apply)
        # tensors of a kind of its own do not know inference mode
        patch.setattr(torch.inference_mode, "__enter__", torch.no_grad.__enter__)
        patch.setattr(torch.inference_mode, "__exit__", torch.no_grad.__exit__)
        with _Mode():
            yield f"{NAME}:0"


def main(experiments: list[str]) -> int:
    """Run the smoke trial of each model, or of those of some experiments; say which failed.

    What they train is trained there: the cache is empty at first.
    """
    failed = 0
    with tempfile.TemporaryDirectory() as os.environ["XLREPRO_DATA"]:
        for key, row, changes in [m for m in MODELS if not experiments or m[0] in experiments]:
            try:
                with pretended_device() as device:
                    found = f"{len(numbers((key, row, changes), device))} numbers"
            except Exception as error:
                found, failed = f"FAILED {type(error).__name__}: {str(error)[:300]}", failed + 1
            print(f"{time.process_time():4.0f} s  {key} {row}: {found}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
