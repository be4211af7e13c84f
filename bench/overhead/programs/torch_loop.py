"""A small training loop: torch_loop.py ITERATIONS."""
from __future__ import annotations

import sys

import torch
from handshake import measured


def main(iterations: int) -> None:
    """Some 30 operators forward and twice as many backward per iteration."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    model = torch.nn.Sequential(layer, layer, torch.nn.Linear(128, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    inputs, targets = torch.randn(8, 32, 128), torch.randn(8, 32, 8)

    def work() -> None:
        for _ in range(iterations):
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    work()
    measured(work)


if __name__ == "__main__":
    main(int(sys.argv[1]))
