"""The workloads of workloads.cpp as they are written in PyTorch, in half precision: `torchrun --standalone --nproc-per-node N workloads.py`.
The largest of the medians of the ranks, beside the same computations without communication."""
import functools
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

layers, gradients, sharded_layers = 4, 12, 8
side, hidden, narrow, repeats = 8192, 4096, 2048, 11


def chain(x, weight, communicate):
    """Tensor parallelism: each product is a part of the sum."""
    for _ in range(layers):
        x = x @ weight
        if communicate:
            dist.all_reduce(x)
    return x


def backward(given, slope, weight, communicate):
    """Data parallelism: the gradient of each layer is averaged while those before it are computed."""
    sums = []
    for _ in range(gradients):
        gradient = given.t() @ slope
        slope = slope @ weight.t()
        if communicate:
            sums.append(dist.all_reduce(gradient, dist.ReduceOp.AVG, async_op=True))
    for one in sums:
        one.wait()


def gather(x, weight, held, communicate):
    if communicate:
        gathered = torch.empty(held.shape[0] * dist.get_world_size(), held.shape[1], device=held.device, dtype=held.dtype)
        work = dist.all_gather_into_tensor(gathered, held, async_op=True)
    x @ weight
    if communicate:
        work.wait()


def small_sum(weight, held, communicate):
    if communicate:
        work = dist.all_reduce(held, async_op=True)
    weight @ weight
    if communicate:
        work.wait()


def experts(x, weight, communicate):
    def exchange(t):
        out = torch.empty_like(t)
        dist.all_to_all_single(out, t)
        return out
    x = exchange(x) if communicate else torch.relu(x)
    x = torch.relu(x @ weight) @ weight.t()
    return exchange(x) if communicate else x


def network(shard):
    linears = [nn.Linear(hidden, hidden, bias=False, device="cuda", dtype=torch.float16) for _ in range(sharded_layers)]
    whole = nn.Sequential(*linears)
    if shard:
        for one in linears:
            fully_shard(one)
        fully_shard(whole)
    return whole


def step(model, x, slope):
    model.zero_grad(set_to_none=True)
    x.grad = None
    model(x).backward(slope)


def median_time(work):
    """Milliseconds: the largest of the medians of the ranks."""
    times = []
    for repeat in range(-3, repeats):
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if repeat >= 0:
            times.append(1e3 * (time.perf_counter() - start))
    slowest = torch.tensor(statistics.median(times), device="cuda")
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return slowest.item()


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    ranks = dist.get_world_size()
    torch.manual_seed(dist.get_rank())

    def drawn(*shape, deviation=1.0, dtype=torch.float16):
        return torch.randn(*shape, device=device).mul_(deviation).to(dtype)
    x, tokens = drawn(side, side), drawn(side, hidden)
    weight, square = drawn(side, side, deviation=1 / 91), drawn(hidden, hidden, deviation=1 / 64)
    wide, held = drawn(hidden, side, deviation=1 / 64), drawn(side // 2, side)
    slim = drawn(hidden, narrow, deviation=1 / 64)
    small, numbers = drawn(1000, 1000, dtype=torch.float32), torch.ones(10000, 1000, device=device)
    sharded, whole = network(True), network(False)
    input_of_layers = tokens.clone().requires_grad_()
    workloads = {
        "tensor-parallel chain of four layers": functools.partial(chain, x, weight),
        "gradients of twelve layers": functools.partial(backward, tokens, tokens, square),
        "all_gather of 64 MiB a rank beside a product": functools.partial(gather, x, weight, held),
        "all_reduce of 10000 x 1000 floats beside a product of 1000": functools.partial(small_sum, small, numbers),
        "a layer of experts": functools.partial(experts, tokens, wide),
        "a layer of narrow experts": functools.partial(experts, tokens, slim),
        "fully sharded, eight layers, FSDP2": lambda communicate: step(sharded if communicate else whole, input_of_layers, tokens),
    }
    if dist.get_rank() == 0:
        print(f"{ranks} GPUs; PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}")
    for name, work in workloads.items():
        alone, together = median_time(lambda: work(False)), median_time(lambda: work(True))
        if dist.get_rank() == 0:
            print(f"  {name}: {together:.3f} ms, {together / alone:.3f} of the computations alone ({alone:.3f} ms)")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
