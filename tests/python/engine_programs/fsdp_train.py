"""A few steps of FSDP2 training on gloo, under torchrun; each rank prints its losses."""
from __future__ import annotations

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    """Trains a small network on fixed data."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    fully_shard(model[0])
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    data = DataLoader(TensorDataset(torch.randn(24, 16), torch.randn(24, 1)), batch_size=4)
    losses = []
    for inputs, targets in data:
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        losses.append(total.item())
    print(f"LOSSES {os.environ['RANK']} {losses!r}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
