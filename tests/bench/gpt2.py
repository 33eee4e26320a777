"""The model of gpt2.cpp in PyTorch: `torchrun --standalone --nproc-per-node N gpt2.py`. With weights of bfloat16 and masters of float, as
gpt2.cpp has them, and with weights of float under autocast, as PyTorch is mostly used; as it is and compiled; on several GPUs under
DistributedDataParallel, which then sums gradients of bfloat16 as well, and FSDP2. Prints the time of a step, and what attention alone takes
of it, which PyTorch has as one kernel and dovetail's `causal_attention` as several."""
import contextlib
import functools
import os
import pathlib
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import transformer

on_gpu = torch.cuda.is_available()
batch, repeats, steps = 8, 9, 4
if on_gpu:
    transformer.layers, transformer.size, transformer.head_size, transformer.length, transformer.vocabulary = 12, 768, 64, 1024, 50304
else:  # the model of the example, to try this script: its times say nothing
    batch, repeats = 2, 1


def measure(step):
    """Median of the milliseconds of a step, and what the last one returned."""
    times, result = [], None
    for repeat in range(-2, repeats):
        dist.barrier()
        if on_gpu:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            result = step()
        if on_gpu:
            torch.cuda.synchronize()
        if repeat >= 0:
            times.append(1e3 * (time.perf_counter() - start) / steps)
    return statistics.median(times), result


class MasterWeights:
    """AdamW on copies in float of a model's weights."""

    def __init__(self, model):
        self.weights = list(model.parameters())
        self.masters = [w.detach().float() for w in self.weights]
        self.optimizer = adam_w(self.masters)

    def zero_grad(self):
        for w in self.weights:
            w.grad = None

    def step(self):
        for master, w in zip(self.masters, self.weights):
            master.grad = w.grad.float()
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.masters)


def adam_w(weights):
    return torch.optim.AdamW(weights, lr=1e-4, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01, fused=True)


def new_model(device):
    """With the deviations that gpt2.cpp begins with."""
    model = transformer.GPT()
    for name, weights in model.named_parameters():
        if weights.dim() == 2:
            inputs_of_sum = weights.shape[1] * (2 * transformer.layers if name.endswith(("output.weight", "mlp.2.weight")) else 1)
            nn.init.normal_(weights, std=0.02 if "embedding" in name or "head" in name else inputs_of_sum**-0.5)
    return model.to(device)


def training_step(model, optimizer, autocast, inputs, targets):
    """A function that makes a step of AdamW, with the gradients clipped."""
    context = functools.partial(torch.autocast, inputs.device.type, dtype=torch.bfloat16) if autocast else contextlib.nullcontext

    def step():
        optimizer.zero_grad()
        with context():
            loss = functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    return step


def variants(device, ranks):
    """Name, model, its optimizer, whether it is run under autocast."""
    def distributed(model):
        if ranks == 1:
            return model
        wrapped = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
        wrapped.register_comm_hook(None, bf16_compress_hook)
        return wrapped

    for compiled in (False, True):
        for autocast in (False, True):
            model = new_model(device)
            model = distributed(model if autocast else model.bfloat16())
            optimizer = adam_w(model.parameters()) if autocast else MasterWeights(model)
            name = "autocast" if autocast else "bfloat16, masters of float"
            yield name + (", compiled" if compiled else ""), torch.compile(model) if compiled else model, optimizer, autocast
    if ranks > 1:
        model = sharded(new_model(device))
        yield "FSDP2, bfloat16, masters of float", model, adam_w(model.parameters()), False


def sharded(model):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    return fully_shard(model, mp_policy=policy)


def attention_alone(device):
    """Forward and backward of the attention of all layers."""
    heads = transformer.size // transformer.head_size
    q, k, v = (torch.randn(batch, heads, transformer.length, transformer.head_size, device=device, dtype=torch.bfloat16, requires_grad=True)
               for _ in range(3))
    slope = torch.randn_like(q)

    def step():
        for _ in range(transformer.layers):
            functional.scaled_dot_product_attention(q, k, v, is_causal=True).backward(slope)

    return step


def main():
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    tokens = torch.randint(0, transformer.vocabulary, (batch, transformer.length + 1), device=device)
    tokens_of_step = ranks * batch * transformer.length
    if rank == 0:
        print(f"{ranks} rank{'s' if ranks > 1 else ''} on {'GPUs' if on_gpu else 'the CPU'}, {tokens_of_step} tokens a step; PyTorch {torch.__version__}")
    torch.manual_seed(1 + rank)
    for name, model, optimizer, autocast in variants(device, ranks):
        milliseconds, loss = measure(training_step(model, optimizer, autocast, tokens[:, :-1], tokens[:, 1:]))
        if rank == 0:
            print(f"  {name:36} {milliseconds:8.2f} ms a step; {1e3 * tokens_of_step / milliseconds:8.0f} tokens per second, loss {float(loss):.4f}", flush=True)
    milliseconds, _ = measure(attention_alone(device))
    if rank == 0:
        print(f"  {'the attention of all layers alone':36} {milliseconds:8.2f} ms, forward and backward", flush=True)
    dist.destroy_process_group()


main()
