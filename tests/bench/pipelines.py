"""The pipelines of pipelines.cpp in PyTorch, by torch.distributed.pipelining in half precision:
`torchrun --standalone --nproc-per-node N pipelines.py`, a stage of four layers each. The largest of the medians of the ranks, beside one stage alone with the bubble of theory."""
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

on_gpu = torch.cuda.is_available()
layers, micro_batches, repeats = 4, 8, 9
tokens = width = 4096 if on_gpu else 64  # without GPUs to try this script: its times say nothing


def measure(step):
    """Milliseconds of a step on the slowest rank, median."""
    times = []
    for repeat in range(-3, repeats):
        dist.barrier()
        if on_gpu:
            torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        if on_gpu:
            torch.cuda.synchronize()
        if repeat >= 0:
            times.append(1e3 * (time.perf_counter() - start))
    slowest = torch.tensor(statistics.median(times), device="cuda" if on_gpu else "cpu")
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return slowest.item()


def begin_backward(y, _):
    """A number whose gradient with respect to y is relu(y), from which the last stage of pipelines.cpp begins."""
    return (y * torch.relu(y).detach()).sum()


def pipelined(schedule, stage, x):
    """A function that makes a run: all micro-batches forward and backward, the gradient of the input included."""
    run = schedule(stage, micro_batches, loss_fn=begin_backward, scale_grads=False)

    def step():
        stage.submod.zero_grad()
        x.grad = None
        given = (x,) if stage.is_first else ()
        run.step(*given, **({"target": x.detach()} if stage.is_last else {}))

    return step


def alone(module, x):
    def step():
        module.zero_grad()
        x.grad = None
        for one in x.tensor_split(micro_batches):
            begin_backward(module(one), None).backward()

    return step


def main():
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    torch.manual_seed(1)
    module = nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(layers))).to(device, torch.half if on_gpu else torch.float)
    for weights in module.parameters():
        nn.init.normal_(weights, std=width**-0.5)
    x = torch.randn(micro_batches * tokens, width, device=device, dtype=next(module.parameters()).dtype, requires_grad=True)
    stage = PipelineStage(module, rank, ranks, device)

    of_stage = measure(alone(module, x))
    of_theory = of_stage * (micro_batches + ranks - 1) / micro_batches
    if rank == 0:
        print(f"pipeline of {ranks} stages and {micro_batches} micro-batches on {'GPUs' if on_gpu else 'the CPU'}; PyTorch {torch.__version__}")
        print(f"  {'one stage alone':28} {of_stage:8.3f} ms")
    for name, schedule in (("1F1B", Schedule1F1B), ("GPipe", ScheduleGPipe)):
        milliseconds = measure(pipelined(schedule, stage, x))
        if rank == 0:
            print(f"  {name:28} {milliseconds:8.3f} ms, {milliseconds / of_theory:5.3f} of one stage and the bubble of theory", flush=True)
    dist.destroy_process_group()


main()
