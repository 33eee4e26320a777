"""training.cpp under PyTorch's DistributedDataParallel: `torchrun --standalone --nproc-per-node N training.py`. Prints the time of a step,
of one without communication (no_sync) and how much of the communication has computation beside it, by the profiler's kernels."""
import contextlib
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn

layers, rows, repeats, steps = 8, 4096, 9, 4
width = [4096 if layer % 2 == 0 else 16384 for layer in range(layers + 1)]


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(a, b):
    return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b)


def main():
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(rank)
    modules = []
    for layer in range(layers):
        linear = nn.Linear(width[layer], width[layer + 1], device=device, dtype=torch.bfloat16)
        nn.init.normal_(linear.weight, std=1 / (45 if layer % 2 == 0 else 90))
        nn.init.zeros_(linear.bias)
        modules += [linear, nn.ReLU()] if layer + 1 < layers else [linear]
    network = nn.Sequential(*modules)
    # On one GPU there is nothing to reduce.
    model = nn.parallel.DistributedDataParallel(network, device_ids=[device.index], gradient_as_bucket_view=True) if ranks > 1 else network
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, fused=True)
    images = torch.randn(rows, width[0], device=device, dtype=torch.bfloat16)
    labels = torch.randint(0, width[-1], (rows,), device=device)

    def step(communicate=True):
        optimizer.zero_grad()
        with contextlib.nullcontext() if communicate or ranks == 1 else model.no_sync():
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
        optimizer.step()
        return loss

    def measure(one):
        times = []
        for repeat in range(-2, repeats):
            dist.barrier()
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(steps):
                loss = one()
            torch.cuda.synchronize()
            if repeat >= 0:
                times.append(1e3 * (time.perf_counter() - start) / steps)
        return statistics.median(times), float(loss.detach()) if torch.is_tensor(loss) else loss

    def means_alone():
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
        return 0

    with_communication, loss = measure(step)
    without, _ = measure(lambda: step(False))
    alone, _ = measure(means_alone) if ranks > 1 else (0, 0)

    # What the profiler saw of some steps: kernels of NCCL against all others.
    dist.barrier()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    kernels = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA and not e.name.startswith(("Memcpy", "Memset", "nccl:"))]
    kernels = [(e.name, e.time_range.start, e.time_range.end) for e in kernels if not getattr(e, "is_user_annotation", False)]
    communication = union([k[1:] for k in kernels if k[0].startswith("nccl")])
    computation = union([k[1:] for k in kernels if not k[0].startswith("nccl")])
    if rank == 0:
        print(f"{ranks} GPU{'s' if ranks > 1 else ''}; PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}")
        name = "DistributedDataParallel" if ranks > 1 else "PyTorch"
        print(f"  {name:34} {with_communication:8.3f} ms a step, loss {loss:.4f}")
        if ranks > 1:
            beside = common(communication, computation)
            print(f"  {'... without communication':34} {without:8.3f} ms a step; its all_reduces alone {alone:.3f} ms")
            print(f"  hidden: {100 * beside / length(communication):.0f}% by intersection ({length(communication) / 1e3 / steps:.2f} ms of communication a step on rank 0),"
                  f" {100 * (without + alone - with_communication) / alone:.0f}% by gain")
    dist.destroy_process_group()


main()
