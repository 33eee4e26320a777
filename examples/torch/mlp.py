#!/usr/bin/env python3
"""A tensor-parallel MLP block of dovetail as a torch.nn.Module, on the host: its ranks are threads. Run as a program, it compiles mlp.cpp
with torch's cpp_extension (a minute) and compares the values and the gradients with plain PyTorch's. Needs torch, ninja and Boost.Hana."""
import pathlib
import sys

import torch
from torch.utils import cpp_extension

here = pathlib.Path(__file__).resolve().parent


def load(rows, width, hidden, ranks, folder=None):
    """Compiles the extension for x of [rows, width] and weights of [width, hidden] and [hidden, width] on so many ranks."""
    sizes = {"MLP_ROWS": rows, "MLP_WIDTH": width, "MLP_HIDDEN": hidden, "MLP_RANKS": ranks}
    return cpp_extension.load(name=f"dovetail_mlp_{rows}_{width}_{hidden}_{ranks}", sources=[str(here / "mlp.cpp")], build_directory=folder,
                              extra_include_paths=[str(here.parents[1] / "include")],
                              extra_cflags=["-std=c++20", "-O1", *(f"-D{name}={value}" for name, value in sizes.items())])


class MLPFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, extension, x, *shards):
        half = len(shards) // 2
        ctx.extension = extension
        ctx.save_for_backward(x, *shards)
        return extension.forward(x, list(shards[:half]), list(shards[half:]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dy):
        x, *shards = ctx.saved_tensors
        half = len(shards) // 2
        dx, dw1, dw2 = ctx.extension.backward(dy.contiguous(), x, shards[:half], shards[half:])
        return None, dx, *dw1, *dw2


class MLP(torch.nn.Module):
    """gelu(x w1) w2 without biases; the parameters are the ranks' shards: columns of w1 [width, hidden], rows of w2 [hidden, width]."""

    def __init__(self, extension, w1, w2, ranks):
        super().__init__()
        self.extension = extension
        self.w1 = torch.nn.ParameterList(torch.nn.Parameter(t.clone().contiguous()) for t in w1.chunk(ranks, dim=1))
        self.w2 = torch.nn.ParameterList(torch.nn.Parameter(t.clone().contiguous()) for t in w2.chunk(ranks, dim=0))

    def forward(self, x):
        return MLPFunction.apply(self.extension, x.contiguous(), *self.w1, *self.w2)


def compare(rows=16, width=32, hidden=64, ranks=2):
    """Fails unless values and gradients equal plain PyTorch's up to rounding, and tensors that do not fit are refused by name."""
    torch.manual_seed(1)
    x, dy = torch.randn(rows, width), torch.randn(rows, width)
    w1, w2 = torch.randn(width, hidden) / width**0.5, torch.randn(hidden, width) / hidden**0.5
    extension = load(rows, width, hidden, ranks)
    block = MLP(extension, w1, w2, ranks)
    ours = x.clone().requires_grad_()
    y = block(ours)
    y.backward(dy)

    plain = [t.clone().requires_grad_() for t in (x, w1, w2)]
    expected = torch.nn.functional.gelu(plain[0] @ plain[1]) @ plain[2]
    expected.backward(dy)
    pairs = {"y": (y, expected), "dx": (ours.grad, plain[0].grad),
             "dw1": (torch.cat([p.grad for p in block.w1], dim=1), plain[1].grad),
             "dw2": (torch.cat([p.grad for p in block.w2], dim=0), plain[2].grad)}
    for name, (got, wanted) in pairs.items():
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5, msg=lambda text, name=name: f"{name}: {text}")
        print(f"{name}: equal up to {(got - wanted).abs().max().item():.1e}")
    for wrong, text in ((x.double(), "input `x` is bound to a tensor of double"), (x[1:], "input `x` is bound to a tensor of shape")):
        try:
            block(wrong)
        except RuntimeError as error:
            assert text in str(error), error
        else:
            sys.exit(f"not refused: {text}")
    print("tensors of another type or shape are refused")


if __name__ == "__main__":
    compare()
