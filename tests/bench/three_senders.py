"""three_senders.cpp in PyTorch: `torchrun --standalone --nproc-per-node 4 three_senders.py`. Serial: each irecv is waited for before its
product is issued; overlapped: all receives are issued first. Prints the receiver's medians."""
import os
import statistics
import time

import torch
import torch.distributed as dist

extent, receiver, repeats = 10_000, 3, 15


def value(i):
    return (i + 1) / 128


def main():
    rank = int(os.environ["RANK"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    empty = lambda: torch.zeros(extent, extent, dtype=torch.half, device=device)
    blocks = [empty() if rank in (i, receiver) else None for i in range(3)]
    products = [empty() for _ in range(3)] if rank == receiver else []

    def send():
        blocks[rank].fill_(value(rank))
        dist.isend(blocks[rank], receiver).wait()

    def serial():
        if rank != receiver:
            return send()
        for i in range(3):
            dist.irecv(blocks[i], i).wait()
            torch.matmul(blocks[i], blocks[i], out=products[i])

    def overlapped():
        if rank != receiver:
            return send()
        arriving = [dist.irecv(blocks[i], i) for i in range(3)]
        for i, block in enumerate(arriving):
            block.wait()
            torch.matmul(blocks[i], blocks[i], out=products[i])

    variants = {"PyTorch irecv, serial": serial, "PyTorch irecv, overlapped": overlapped}
    times = {name: [] for name in variants}
    for repeat in range(-2, repeats):
        for name, issue in variants.items():
            dist.barrier()
            torch.cuda.synchronize()
            start = time.perf_counter()
            issue()
            torch.cuda.synchronize()
            if repeat >= 0:
                times[name].append(1e3 * (time.perf_counter() - start))
    if rank == receiver:
        wrong = sum(int((products[i] != extent * value(i) ** 2).sum()) for i in range(3))
        for name, t in times.items():
            print(f"{name:44} {statistics.median(t):9.3f} {min(t):9.3f}")
        print(f"PyTorch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}, {wrong} wrong elements")
    dist.destroy_process_group()


main()
