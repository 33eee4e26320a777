#!/usr/bin/env python3
"""Writes transformer_values.hpp: values and gradients of layer_norm, gelu, softmax, attention, embedding, softmax_cross_entropy and AdamW
by PyTorch in double precision. Made with PyTorch 2.15.0; JAX 0.10.2 and Optax 0.2.8 gave those of layer_norm, gelu, attention and AdamW
the same up to 1e-15."""
import pathlib

import torch
from torch.nn import functional

torch.set_default_dtype(torch.float64)


def filled(seed, *shape):
    """An eighth of what support::filled draws for this seed."""
    numbers = []
    for _ in range(torch.Size(shape).numel()):
        seed = (seed * 1664525 + 1013904223) % 2**32
        numbers.append(((seed >> 20) % 17 - 8) / 16)
    return torch.tensor(numbers).reshape(shape)


def layer_norm(x, gain, bias):
    return functional.layer_norm(x, gain.shape, gain, bias)


def softmax(x):
    return functional.softmax(x, -1)


def attention(q, k, v, length=3, head_size=2):
    heads = [x.reshape(-1, length, x.shape[1] // head_size, head_size).transpose(1, 2) for x in (q, k, v)]
    return functional.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(q.shape)


def with_gradients(f, dy, *arguments):
    arguments = [x.requires_grad_() for x in arguments]
    y = f(*arguments)
    y.backward(dy)
    return (y, *(x.grad for x in arguments))


def embedding(table):
    return functional.embedding(torch.tensor([2, 0, 2, 5, 2]), table)


def cross_entropy(logits):
    loss, gradient = with_gradients(lambda x: functional.cross_entropy(x, torch.tensor([4, 0, 2])), torch.tensor(1.0), logits)
    return loss, functional.softmax(logits, -1), gradient


def adam_w(steps):
    w = torch.nn.Parameter(filled(1, 4))
    optimizer, weights = torch.optim.AdamW([w], lr=0.125, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.25), []
    for step in range(steps):
        w.grad = filled(10 + step, 4)
        optimizer.step()
        weights.append(w.detach().clone())
    return torch.stack(weights)


values = {
    "layer_norm": (("y", "dx", "gain_gradient", "bias_gradient"),
                   with_gradients(layer_norm, filled(4, 3, 5), filled(1, 3, 5), filled(2, 5), filled(3, 5))),
    "gelu": (("y", "dx"), with_gradients(functional.gelu, filled(2, 9), 8 * filled(1, 9))),
    "softmax": (("y", "dx"), with_gradients(softmax, filled(2, 3, 5), 8 * filled(1, 3, 5))),
    "attention": (("y", "dq", "dk", "dv"),
                  with_gradients(attention, filled(4, 6, 4), 4 * filled(1, 6, 4), 4 * filled(2, 6, 4), filled(3, 6, 4))),
    "embedding": (("y", "gradient"), with_gradients(embedding, filled(2, 5, 3), filled(1, 6, 3))),
    "cross_entropy": (("loss", "probabilities", "gradient"), cross_entropy(8 * filled(1, 3, 5))),
    "adam_w": (("weights",), (adam_w(3),)),
}

text = ["// Written by transformer_values.py: values and gradients in double precision by PyTorch, of arguments that the script says.",
        "#pragma once", ""]
for subject, (names, tensors) in values.items():
    text.append(f"namespace expected::{subject} {{")
    for name, tensor in zip(names, tensors):
        numbers = [repr(x) for x in tensor.flatten().tolist()]
        lines = [", ".join(numbers[i:i + 5]) for i in range(0, len(numbers), 5)]
        text.append(f"inline constexpr double {name}[] = {{\n    " + ",\n    ".join(lines) + "};")
    text += [f"}}  // namespace expected::{subject}", ""]
pathlib.Path(__file__).with_suffix(".hpp").write_text("\n".join(text[:-1]) + "\n")
