#!/usr/bin/env python3
"""A tensor-parallel MLP block of dovetail as a torch.nn.Module. Needs torch, ninja and Boost.Hana.

    python mlp.py                              on the host, whose ranks are threads: compares values and gradients with plain PyTorch's
    torchrun --nproc-per-node 2 mlp.py         on GPUs, one process each: the same, and the times of both

torch's cpp_extension compiles mlp.cpp for the host in half a minute, mlp.cu for GPUs in two. The sizes are part of the graphs: `--rows`,
`--width`, `--hidden` and `--float` change those of the comparison on GPUs."""
import argparse
import os
import pathlib
import re
import sys
import time

import torch
import torch.distributed as dist
from torch.utils import cpp_extension

here = pathlib.Path(__file__).resolve().parent
elements = {torch.float32: "float", torch.float16: "dovetail::half", torch.bfloat16: "dovetail::bfloat16"}


def loaded(library):
    """The path of a shared library that torch has loaded, so that the extension uses the same one."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = pathlib.Path(line.rstrip().split(maxsplit=5)[-1])
            if re.match(rf"{library}\.so\.\d", path.name):
                return path
    raise RuntimeError(f"torch has not loaded {library}: is it a PyTorch for GPUs?")


def load(rows, width, hidden, ranks, dtype=torch.float32, machine=None):
    """Compiles the extension for x of [rows, width] and weights of [width, hidden] and [hidden, width] on so many ranks: threads of the
    host or, with the name of dovetail's description of their machine, GPUs."""
    sizes = {"MLP_ROWS": rows, "MLP_WIDTH": width, "MLP_HIDDEN": hidden, "MLP_RANKS": ranks, "MLP_ELEMENT": elements[dtype]}
    defined = [f"-D{name}={value}" for name, value in sizes.items()]
    name = f"dovetail_mlp_{rows}_{width}_{hidden}_{ranks}_{str(dtype).split('.')[1]}"
    include = [str(here.parents[1] / "include")]
    if machine is None:
        return cpp_extension.load(name, [str(here / "mlp.cpp")], extra_cflags=["-std=c++20", "-O1", *defined], extra_include_paths=include)
    nccl, cublas = loaded("libnccl"), loaded("libcublas")
    return cpp_extension.load(f"{name}_{machine}", [str(here / "mlp.cu")],
                              extra_cuda_cflags=["-std=c++20", "-O2", f"-DMLP_MACHINE={machine}", *defined],
                              extra_include_paths=[*include, str(nccl.parents[1] / "include")], extra_ldflags=[str(nccl), str(cublas)])


class MLPFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, block, x, *shards):
        half = len(shards) // 2
        y, before = block.forward(x, list(shards[:half]), list(shards[half:]))
        ctx.block = block
        ctx.save_for_backward(x, *before, *shards)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dy):
        x, *rest = ctx.saved_tensors
        third = len(rest) // 3
        dx, dw1, dw2 = ctx.block.backward(dy.contiguous(), x, rest[:third], rest[third : 2 * third], rest[2 * third :])
        return None, dx, *dw1, *dw2


class MLP(torch.nn.Module):
    """gelu(x w1) w2 without biases. The parameters are the shards of the ranks of this process: columns of w1 [width, hidden], rows of w2
    [hidden, width]. `block` is the extension on the host, and an object of its class `block` on GPUs, which several modules may share."""

    def __init__(self, block, w1, w2):
        super().__init__()
        self.block = block
        self.w1 = torch.nn.ParameterList(torch.nn.Parameter(t.clone().contiguous()) for t in w1)
        self.w2 = torch.nn.ParameterList(torch.nn.Parameter(t.clone().contiguous()) for t in w2)

    def forward(self, x):
        return MLPFunction.apply(self.block, x.contiguous(), *self.w1, *self.w2)


def drawn(rows, width, hidden):
    """x, a gradient of y, and both weights, the same on all ranks."""
    torch.manual_seed(1)
    return torch.randn(rows, width), torch.randn(rows, width), torch.randn(width, hidden) / width**0.5, torch.randn(hidden, width) / hidden**0.5


def check_equal(pairs, tolerance):
    """Fails unless the tensors of each pair differ by at most `tolerance` of the largest element."""
    for name, (got, wanted) in pairs.items():
        difference = ((got - wanted).abs().max() / wanted.abs().max()).item()
        if not difference <= tolerance:
            sys.exit(f"{name}: differs by {difference:.1e} of its largest element")
        print(f"{name}: equal up to {difference:.1e} of its largest element")


def check_refused(block, x, *more):
    """Tensors that do not fit are refused by name, as are shards of more ranks; `more` are pairs of such a tensor and a text of the error."""
    wider = MLP(block.block, [*block.w1, block.w1[0]], [*block.w2, block.w2[0]])
    pairs = ((x.double(), "input `x` is bound to a tensor of double"), (x[1:], "input `x` is bound to a tensor of shape"), *more)
    for module, given, text in (*((block, *pair) for pair in pairs), (wider, x, "one shard of each weight")):
        try:
            module(given)
        except RuntimeError as error:
            assert text in str(error), error
        else:
            sys.exit(f"not refused: {text}")
    print("tensors that do not fit are refused")


def compare(rows=16, width=32, hidden=64, ranks=2):
    """Fails unless values and gradients equal plain PyTorch's up to rounding, on the host."""
    x, dy, w1, w2 = drawn(rows, width, hidden)
    block = MLP(load(rows, width, hidden, ranks), w1.chunk(ranks, dim=1), w2.chunk(ranks, dim=0))
    ours = x.clone().requires_grad_()
    y = block(ours)
    y.backward(dy)

    plain = [t.clone().requires_grad_() for t in (x, w1, w2)]
    expected = torch.nn.functional.gelu(plain[0] @ plain[1]) @ plain[2]
    expected.backward(dy)
    check_equal({"y": (y, expected), "dx": (ours.grad, plain[0].grad),
                 "dw1": (torch.cat([p.grad for p in block.w1], dim=1), plain[1].grad),
                 "dw2": (torch.cat([p.grad for p in block.w2], dim=0), plain[2].grad)}, 1e-5)
    check_refused(block, x)


@torch.no_grad()
def check_freed_early(block, x):
    """Fails if a run on a stream of its own reads or writes memory that was given away: inputs and results are freed while runs that use
    them wait, and what takes their place is overwritten at once. As torch's own operations, a block needs `record_stream` only for tensors
    of other streams."""
    expected, stream = block(x), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    equal = []
    with torch.cuda.stream(stream):
        for _ in range(20):
            y = block(x.clone())
            torch.full_like(x, float("nan"))
            equal.append((y == expected).all())
            del y
            torch.full_like(x, float("nan"))
    stream.synchronize()
    if not all(equal):
        sys.exit("tensors that were freed early: wrong values")
    print("tensors that are freed early: equal")


class SumOfGradients(torch.autograd.Function):
    """x as it is; its gradients are added over the ranks."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, dx):
        dist.all_reduce(dx)
        return dx


class SumOverRanks(torch.autograd.Function):
    """x added over the ranks; its gradient as it is."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, dy):
        return dy


def plain_block(x, w1, w2):
    """The same block as tensor parallelism is written in PyTorch."""
    return SumOverRanks.apply(torch.nn.functional.gelu(SumOfGradients.apply(x) @ w1) @ w2)


def median_time(step, repeats=20):
    """Milliseconds of a step on the slowest rank, median."""
    times = []
    for repeat in range(-5, repeats):
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        if repeat >= 0:
            times.append(1e3 * (time.perf_counter() - start))
    slowest = torch.tensor(sorted(times)[repeats // 2], device="cuda")
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return slowest.item()


def compare_on_gpus(rows, width, hidden, dtype):
    """Fails unless values and gradients equal plain PyTorch's up to rounding, on two blocks in a row, and prints the times of both."""
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if rank != 0:
        sys.stdout = open(os.devnull, "w")
    x, dy, w1, w2 = (t.to(device, dtype) for t in drawn(rows, width, hidden))
    shards = (w1.chunk(ranks, dim=1)[rank].contiguous(), w2.chunk(ranks, dim=0)[rank].contiguous())

    machine = "h100_nvlink" if "H100 80GB HBM3" in torch.cuda.get_device_name(device) else "h200_nvlink"
    extension = load(rows, width, hidden, ranks, dtype, machine)
    communicator = dist.group.WORLD._get_backend(device)._comm_ptr()
    shared = extension.block(communicator, device.index)
    block = MLP(shared, [shards[0]], [shards[1]])
    ours = x.clone().requires_grad_()
    y = block(block(ours))
    y.backward(dy)

    plain = [t.clone().requires_grad_() for t in (x, *shards)]
    expected = plain_block(plain_block(*plain), *plain[1:])
    expected.backward(dy)
    check_equal({"y": (y, expected), "dx": (ours.grad, plain[0].grad), "dw1": (block.w1[0].grad, plain[1].grad),
                 "dw2": (block.w2[0].grad, plain[2].grad)}, 1e-5 if dtype == torch.float32 else 3e-2)
    check_freed_early(block, x)
    check_refused(block, x, (x.cpu(), "a tensor of this block is on cpu"))

    def step(module, x):
        module(x).backward(dy)
    by_dovetail = median_time(lambda: step(block, ours))
    by_torch = median_time(lambda: step(lambda x: plain_block(x, *plain[1:]), plain[0]))
    print(f"forward and backward on {ranks} GPUs: dovetail {by_dovetail:.3f} ms, plain PyTorch {by_torch:.3f} ms, "
          f"{by_torch / by_dovetail:.3f} times as fast")
    shared.end()
    dist.destroy_process_group()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=8192)
    arguments.add_argument("--width", type=int, default=8192)
    arguments.add_argument("--hidden", type=int, default=8192)
    arguments.add_argument("--float", dest="dtype", action="store_const", const=torch.float32, default=torch.bfloat16)
    given = arguments.parse_args()
    if "LOCAL_RANK" in os.environ:
        compare_on_gpus(given.rows, given.width, given.hidden, given.dtype)
    elif len(sys.argv) > 1:
        arguments.error("these are sizes of the comparison on GPUs, under torchrun")
    else:
        compare()
