#!/usr/bin/env python3
"""The model of 04_transformer in PyTorch, from the same initial weights and with the same batches, in float32:

    04_transformer --record FOLDER
    python transformer.py FOLDER/initial.safetensors --compare FOLDER/losses.2x1x1.txt

--losses FILE writes the loss of each step. --untied is for untied.safetensors and losses.untied.txt. --device cuda trains on a GPU,
--compile with torch.compile. --ddp divides each batch among the processes of torchrun:
`torchrun --nproc-per-node 2 transformer.py FOLDER/initial.safetensors --device cuda --ddp`."""
import argparse
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

try:
    from safetensors.torch import load_file
except ImportError:
    def load_file(path):
        """The tensors of a file in safetensors' format, all of float: the length of a header in JSON, the header, the data."""
        file = pathlib.Path(path).read_bytes()
        data = 8 + int.from_bytes(file[:8], "little")
        entries = json.loads(file[8:data])
        entries.pop("__metadata__", None)
        return {name: torch.frombuffer(bytearray(file[data + begin : data + end]), dtype=torch.float32).reshape(entry["shape"])
                for name, entry in entries.items() for begin, end in [entry["data_offsets"]]}

# Those of gpt.hpp.
layers, size, head_size, length, sequences, vocabulary = 2, 64, 16, 64, 16, 72
tied_head = True  # the head has the weights of the token embedding

# Largest relative difference of losses over 100 steps: rounding makes 8e-7, the approximation of GELU by tanh 1.5e-5.
tolerance = 1e-5


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        self.value = nn.Linear(size, size, bias=False)
        self.output = nn.Linear(size, size, bias=False)

    def forward(self, x):
        q, k, v = (project(x).unflatten(-1, (-1, head_size)).transpose(1, 2) for project in (self.query, self.key, self.value))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(size)
        self.attention = Attention()
        self.norm2 = nn.LayerNorm(size)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size, bias=False), nn.GELU(), nn.Linear(4 * size, size, bias=False))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, size)
        self.position_embedding = nn.Embedding(length, size)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.norm = nn.LayerNorm(size)
        self.head = nn.Linear(size, vocabulary, bias=False)
        if tied_head:
            self.head.weight = self.token_embedding.weight

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[-1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.token_embedding(tokens) + self.position_embedding(positions))))


def saved_names():
    """Name of a parameter -> name of the state in the file."""
    names = {"token_embedding.weight": "token_table", "position_embedding.weight": "position_table", "norm.weight": "last_gain",
             "norm.bias": "last_bias"} | ({} if tied_head else {"head.weight": "head"})
    of_block = {"norm1.weight": "gain1", "norm1.bias": "bias1", "norm2.weight": "gain2", "norm2.bias": "bias2",
                "attention.query.weight": "wq", "attention.key.weight": "wk", "attention.value.weight": "wv",
                "attention.output.weight": "wo", "mlp.0.weight": "w1", "mlp.2.weight": "w2"}
    return names | {f"blocks.{i}.{name}": f"{state}<{i}>" for i in range(layers) for name, state in of_block.items()}


def load_weights(model, path):
    """The file has the matrix of a linear layer as [inputs, outputs], PyTorch as [outputs, inputs]."""
    saved = load_file(path)
    weights = {name: saved[state] for name, state in saved_names().items()}
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and f"{name}.weight" in weights:
            weights[f"{name}.weight"] = weights[f"{name}.weight"].T
    if tied_head:
        weights["head.weight"] = weights["token_embedding.weight"]
    model.load_state_dict(weights)


def load_text():
    """The text as tokens: a character's place among all in ascending order."""
    text = (pathlib.Path(__file__).parent / "data" / "paradise_lost.txt").read_bytes()
    place = {character: i for i, character in enumerate(sorted(set(text)))}
    return torch.tensor([place[character] for character in text])


def uniform(seed):
    """Random numbers from 0 to 1: transformer::generator."""
    state = (seed * 0x9E3779B97F4A7C15 + 1) % 2**64
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11) / 2**53


def draw(text, step, first, count):
    """Inputs and targets of the sequences first, ..., first + count - 1 of the batch of a step: transformer::draw."""
    starts = []
    for i in range(first, first + count):
        random = uniform(step * 10_000 + i)
        next(random)
        starts.append(int(next(random) * (len(text) - length - 1)))
    windows = torch.stack([text[start : start + length + 1] for start in starts])
    return windows[:, :-1], windows[:, 1:]


def train_step(model, optimizer, inputs, targets, step):
    """Returns the loss."""
    optimizer.param_groups[0]["lr"] = 4e-3 * min(1, step / 20)
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def train(model, device, steps, rank, ranks):
    """Returns the loss of each step, the mean over all ranks."""
    text, losses = load_text(), []
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01, fused=True)
    mine = sequences // ranks
    since = time.perf_counter()
    for step in range(1, steps + 1):
        inputs, targets = (tokens.to(device) for tokens in draw(text, step, rank * mine, mine))
        loss = train_step(model, optimizer, inputs, targets, step)
        if ranks > 1:
            torch.distributed.all_reduce(loss)
        losses.append(loss.item() / ranks)
        if rank == 0 and step % 25 == 0:
            now = time.perf_counter()
            print(f"  step {step}: loss {losses[-1]:.3f}, {25 * sequences * length / (now - since):.0f} tokens per second", flush=True)
            since = now
    return losses


def compare(losses, path):
    """Whether the losses are those of the file up to rounding."""
    expected = [float(line) for line in pathlib.Path(path).read_text().split()]
    if len(losses) != len(expected):
        print(f"FAILED: {len(losses)} losses, {len(expected)} in {path}")
        return False
    ours, theirs = (torch.tensor(values, dtype=torch.float64) for values in (losses, expected))
    largest, at = ((ours - theirs) / theirs).abs().max(0)  # NaN where there is one
    equal = bool(largest <= tolerance)
    print(f"{'as it should be' if equal else 'FAILED'}: the losses of {len(losses)} steps are at most {largest:.1e} apart (relative), "
          f"at step {at + 1}; allowed {tolerance:.0e}")
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", help="initial.safetensors, by 04_transformer --record")
    parser.add_argument("--compare", metavar="FILE", help="losses.2x1x1.txt, by 04_transformer --record")
    parser.add_argument("--losses", metavar="FILE", help="gets a line for each step: the step and its loss")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--untied", action="store_true", help="with a head of its own")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel, under torchrun")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    arguments = parser.parse_args()

    device, rank, ranks = torch.device(arguments.device), 0, 1
    if arguments.ddp:
        torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
        rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
            torch.cuda.set_device(device)
    if sequences % ranks != 0:
        sys.exit(f"a batch of {sequences} sequences does not divide among {ranks} processes")
    global tied_head
    tied_head = not arguments.untied
    model = GPT()
    load_weights(model, arguments.weights)
    model.to(device)
    if arguments.ddp:
        model = DistributedDataParallel(model)
    if arguments.compile:
        model = torch.compile(model)
    losses = train(model, device, arguments.steps, rank, ranks)
    if arguments.ddp:
        torch.distributed.destroy_process_group()
    if rank == 0 and arguments.losses:
        pathlib.Path(arguments.losses).write_text("".join(f"{step} {loss}\n" for step, loss in enumerate(losses, 1)))
    return rank > 0 or not arguments.compare or compare(losses, arguments.compare)


if __name__ == "__main__":
    failed = not main()
    sys.stdout.flush()
    os._exit(failed)  # by sys.exit, PyTorch may abort: "terminate called without an active exception"
