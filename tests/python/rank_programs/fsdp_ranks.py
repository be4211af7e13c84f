"""Trains a tiny model with FSDP2 on gloo ranks, each under torch.profiler; one rank may be made late.

    python fsdp_ranks.py OUT --ranks 4 --fault data --culprit 2 [--steps 8] [--delay-ms 60] [--every 1]

Writes one trace per rank into OUT. The names of the files say nothing of the ranks: what reads them must find that in the
traces. Faults: none, data (its loader is slow), compute (its layers do more work), gc (it collects garbage), checkpoint (it
saves files), all (every rank computes more from the middle of the run on).
"""
from __future__ import annotations

import argparse
import gc
import hashlib
import os
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

WIDTH = 128
FAULTS = ("none", "data", "compute", "gc", "checkpoint", "all")


class Samples(Dataset):
    """Random rows; `delay` seconds per batch where the fault wants it."""

    def __init__(self, batches: int, late: set[int], delay: float) -> None:
        self.batches, self.late, self.delay = batches, late, delay

    def __len__(self) -> int:
        return self.batches

    def __getitem__(self, index: int) -> torch.Tensor:
        if index in self.late:
            time.sleep(self.delay)
        return torch.randn(16, WIDTH, generator=torch.Generator().manual_seed(index))


class Block(nn.Module):
    """Two layers; `busy_until` makes it repeat its first product for some time."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.extra = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        end = time.monotonic() + self.extra
        while time.monotonic() < end:
            torch.mm(x.detach(), x.detach().t())
        return x + self.second(torch.relu(self.first(x)))


def collect_garbage(delay: float) -> None:
    """Builds rings of objects and collects them until `delay` seconds are over."""
    end = time.monotonic() + delay
    while time.monotonic() < end:
        rings = [[] for _ in range(20_000)]
        for ring in rings:
            ring.append(ring)
        del rings, ring
        gc.collect()


def save_checkpoint(model: nn.Module, delay: float) -> None:
    """Saves this rank's shards, again and again until `delay` seconds are over."""
    end = time.monotonic() + delay
    with tempfile.TemporaryDirectory() as folder:
        state = {name: value.to_local().detach() for name, value in model.state_dict().items()}
        while time.monotonic() < end:
            torch.save(state, Path(folder) / "shard.pt")


def train(rank: int, args: argparse.Namespace, port: int) -> None:
    """One rank."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gc.disable()  # as trainers do that collect by themselves
    dist.init_process_group("gloo", rank=rank, world_size=args.ranks)
    model = nn.Sequential(*(Block() for _ in range(3)))
    blocks = list(model)
    for block in blocks:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    mine = rank == args.culprit or args.fault == "all"
    late = {s for s in range(args.warmup, args.steps + args.warmup) if (s - args.warmup) % args.every == args.every - 1}
    if args.fault == "all":
        late = set(range(args.warmup + args.steps // 2, args.warmup + args.steps))
    delay = args.delay_ms / 1000
    fault = args.fault if mine else "none"
    loader = iter(DataLoader(Samples(args.steps + args.warmup, late if fault == "data" else set(), delay), batch_size=None))

    def step(number: int) -> None:
        on = number in late
        x = next(loader)
        if fault in ("compute", "all"):
            for block in blocks:
                block.extra = delay / len(blocks) if on else 0.0
        loss = model(x).square().mean()
        loss.backward()
        if fault == "gc" and on:
            collect_garbage(delay)
        optimizer.step()
        optimizer.zero_grad()
        if fault == "checkpoint" and on:
            save_checkpoint(model, delay)

    for number in range(args.warmup):
        step(number)
    dist.barrier()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=args.with_stack) as profiler:
        for number in range(args.warmup, args.warmup + args.steps):
            with torch.profiler.record_function(f"ProfilerStep#{number}"):
                step(number)
    name = hashlib.sha256(f"{args.seed} {rank}".encode()).hexdigest()[:12]
    profiler.export_chrome_trace(str(args.out / f"{name}.json"))
    dist.barrier()
    dist.destroy_process_group()


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--culprit", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=60)
    parser.add_argument("--every", type=int, default=1, help="the fault shows in every Nth step")
    parser.add_argument("--seed", default="1", help="of the files' names")
    parser.add_argument("--with-stack", action="store_true", help="record Python functions too")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    mp.start_processes(train, args=(args, free_port()), nprocs=args.ranks, start_method="fork")


if __name__ == "__main__":
    main()
