"""Synthetic traces of several ranks with a known fault, as PyTorch's profiler writes them. Seeds make the same job again."""
from __future__ import annotations

import json
from pathlib import Path
from random import Random

DAY_S = 86400.0


class Ranks:
    """Per step: data, forward and backward with an all-gather, an all-reduce of gradients, now and then a checkpoint.

    `device`: kernels on a stream that the host launches ahead of time, as with NCCL; else the host itself runs the work
    and the collectives, as with gloo. Times are in milliseconds of one true clock; each rank's own is off and drifts.
    """

    def __init__(self, fault: str, ranks: int, seed: str, device: bool, clocks: str) -> None:
        self.random = Random(f"{fault} {ranks} {seed} {device} {clocks}")
        self.fault, self.ranks, self.device = fault, ranks, device
        self.steps = {"gc now and then": 40, "late window": 60}.get(fault, 24)
        self.culprit = self.random.randrange(ranks)
        self.link = tuple(sorted(self.random.sample(range(ranks), 2)))
        self.events: list[list[dict]] = [[] for _ in range(ranks)]
        self.late_ranks = [(step * 7 + step // ranks) % ranks for step in range(self.steps)]
        spread = {"same": 0.0, "ms": 20.0, "days": 5 * DAY_S * 1e3}[clocks]
        self.offset = [self.random.uniform(-spread, spread) for _ in range(ranks)]
        self.drift = [self.random.uniform(-60e-6, 60e-6) if spread else 0.0 for _ in range(ranks)]
        self.now = [0.0] * ranks       # of the hosts
        self.free = [0.0] * ranks      # when each device is
        self.number = 0
        self.counts = [0] * ranks      # transfers of each
        self.correlation = 0

    # --- writing ----------------------------------------------------------------------------------------------------

    def clock(self, rank: int, ms: float) -> float:
        return (ms * (1 + self.drift[rank]) + self.offset[rank]) * 1e3 + 6 * DAY_S * 1e6

    def event(self, rank: int, name: str, begin: float, end: float, cat: str, tid: int = 1, **args: object) -> None:
        begin_ns, end_ns = (round(self.clock(rank, ms) * 1e3) for ms in (begin, end))
        pid = 0 if cat == "kernel" else 1000 + rank
        self.events[rank].append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": begin_ns / 1e3,
                                  "dur": (end_ns - begin_ns) / 1e3, "args": args})

    def host(self, rank: int, name: str, ms: float, cat: str = "cpu_op") -> None:
        """The host does something for so long."""
        ms *= self.random.uniform(0.97, 1.03)
        self.event(rank, name, self.now[rank], self.now[rank] + ms, cat)
        self.now[rank] += ms + 0.002

    def kernel(self, rank: int, name: str, ms: float, launch: float = 0.01, **args: object) -> None:
        """The host launches a kernel that takes so long."""
        ms *= self.random.uniform(0.97, 1.03)
        self.correlation += 1
        begin = self.now[rank]
        self.event(rank, "cudaLaunchKernel", begin, begin + launch, "cuda_runtime", correlation=self.correlation)
        self.now[rank] += launch + 0.002
        start = max(self.free[rank], begin + launch + 0.005)
        self.event(rank, name, start, start + ms, "kernel", 7, correlation=self.correlation, device=0, stream=7, **args)
        self.free[rank] = start + ms + 0.001

    # --- the job ----------------------------------------------------------------------------------------------------

    def work(self, rank: int, ms: float) -> None:
        """Compute of a layer."""
        factor = 1.0
        if self.fault == "compute" and rank == self.culprit or self.fault == "throttled" and rank == self.culprit:
            factor = 1.6
        if self.fault == "uniform" and self.step >= self.steps // 2:
            factor = 2.0
        if not self.device:
            self.host(rank, "aten::mm", ms * factor)
            return
        # Where launches are slow, the device runs dry between its kernels.
        launch = ms * 0.4 if self.fault == "launch" and rank == self.culprit else 0.01
        for _ in range(4):
            self.kernel(rank, "ampere_sgemm_128x64_tn", ms * factor / 4, launch)

    def collective(self, name: str, kind: str, elements: int, ms: float, members: list[int] | None = None) -> None:
        """All members meet. A kernel begins when the stream comes to it, a host's range when the host does."""
        members = members if members is not None else list(range(self.ranks))
        group = "0" if len(members) == self.ranks else "pair " + "-".join(map(str, members))
        facts = {"Collective name": kind, "In msg nelems": elements, "Out msg nelems": elements, "dtype": "Float",
                 "Group size": len(members), "Process Group Name": group, "Process Group Ranks": str(members),
                 "Seq": self.number}
        begins = {}
        for rank in members:
            begins[rank] = max(self.free[rank], self.now[rank] + 0.015) if self.device else self.now[rank]
        end = max(begins.values()) + ms * self.random.uniform(0.97, 1.03)
        for rank in members:
            stop = end + self.random.uniform(0, 0.02)
            if self.device:
                self.device_call(rank, f"ncclDevKernel_{name}_RING_LL", begins[rank], stop, facts)
                self.free[rank] = stop
            else:
                begin = self.now[rank]
                self.event(rank, f"c10d::{kind}_", begin, stop, "cpu_op")
                self.event(rank, "record_param_comms", begin + 0.001, begin + 0.004, "cpu_op", **facts)
                self.event(rank, f"gloo:{kind}", begin + 0.002, stop - 0.001, "user_annotation")
                self.now[rank] = stop + 0.005
        self.number += 1

    def device_call(self, rank: int, kernel: str, begin: float, end: float, facts: dict) -> None:
        """An operation between ranks as its host asks for it, and its kernel."""
        self.correlation += 1
        self.event(rank, "record_param_comms", self.now[rank], self.now[rank] + 0.012, "cpu_op", **facts)
        self.event(rank, "cudaLaunchKernelExC", self.now[rank] + 0.003, self.now[rank] + 0.01, "cuda_runtime",
                   correlation=self.correlation)
        self.event(rank, kernel, begin, end, "kernel", 20, correlation=self.correlation, device=0, stream=20, **facts)
        self.now[rank] += 0.015

    def transfer(self, sender: int, receiver: int, elements: int, ms: float) -> None:
        """One rank sends, the next receives; both leave when all is there. Each records the other end alone."""
        begins = {rank: max(self.free[rank], self.now[rank] + 0.015) if self.device else self.now[rank]
                  for rank in (sender, receiver)}
        end = max(begins.values()) + ms * self.random.uniform(0.97, 1.03)
        for rank, kind in ((sender, "send"), (receiver, "recv")):
            facts = {"Collective name": kind, "In msg nelems": elements, "Out msg nelems": elements, "dtype": "Float",
                     "Group size": self.ranks, "Process Group Name": "0", "Process Group Ranks": str(list(range(self.ranks))),
                     "Seq": self.counts[rank], **({"Dst Rank": receiver} if kind == "send" else {"Src Rank": sender})}
            self.counts[rank] += 1
            stop = end + self.random.uniform(0, 0.02)
            if self.device:
                self.device_call(rank, "ncclDevKernel_SendRecv", begins[rank], stop, facts)
            else:
                begin = self.now[rank]
                self.event(rank, f"c10d::{kind}", begin, stop, "cpu_op")
                self.event(rank, "record_param_comms", begin + 0.001, begin + 0.004, "cpu_op", **facts)
                self.event(rank, f"gloo:{kind}", begin + 0.002, stop - 0.001, "user_annotation")
                self.now[rank] = stop + 0.005
            self.free[rank] = max(self.free[rank], stop)

    def pipeline(self) -> None:
        """Two micro batches go through all stages and back; there is no collective at all."""
        for micro in range(2):
            for stage in range(self.ranks):
                self.work(stage, 6)
                if stage + 1 < self.ranks:
                    slow = self.fault == "pipe link" and stage == self.culprit % (self.ranks - 1)
                    self.transfer(stage, stage + 1, 1 << 16, 4 if slow else 0.5)
        for micro in range(2):
            for stage in reversed(range(self.ranks)):
                self.work(stage, 6)
                if stage > 0:
                    self.transfer(stage, stage - 1, 1 << 16, 0.5)

    def sync(self) -> None:
        """The hosts wait for their devices, as at loss.item()."""
        for rank in range(self.ranks):
            if self.device and self.free[rank] > self.now[rank]:
                self.event(rank, "cudaDeviceSynchronize", self.now[rank], self.free[rank], "cuda_runtime")
                self.now[rank] = self.free[rank] + 0.002

    def run(self) -> "Ranks":
        for self.step in range(self.steps):
            begins = list(self.now)
            for rank in range(self.ranks):
                mine = rank == self.culprit
                self.host(rank, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                          25 if self.fault in ("data", "late window") and mine else 1, "user_annotation")
                if self.fault == "alternating" and rank == self.late_ranks[self.step]:
                    self.host(rank, "gc.collect", 25, "user_annotation")
                if self.fault == "gc now and then" and mine and self.step % 10 == 5:
                    self.host(rank, "gc.collect", 80, "user_annotation")
                if self.fault == "gc" and mine and self.step % 2 == 0:
                    self.host(rank, "gc.collect", 40, "user_annotation")
                if self.fault == "checkpoint" and mine and self.step == self.steps - 4:
                    self.host(rank, "torch.save", 500, "user_annotation")
                if self.fault == "silent" and mine:
                    self.now[rank] += 25
                if not self.fault.startswith("pipe"):
                    self.work(rank, 12)
            if self.fault.startswith("pipe"):
                self.pipeline()
                self.end_step(begins)
                continue
            self.collective("AllGather", "_allgather_base", 1 << 20, 2)
            for rank in range(self.ranks):
                self.work(rank, 24)
            slow = self.fault == "network"
            self.collective("AllReduce_Sum_f32", "allreduce", 1 << 22, 12 if slow else 4)
            if self.ranks > 2:
                for i in range(self.ranks):
                    pair = sorted([i, (i + 1) % self.ranks])
                    usual = not (self.fault == "link" and tuple(pair) == self.link_of_ring())
                    self.collective("AllReduce_Sum_f32", "allreduce", 1 << 16, 0.5 if usual else 4, pair)
            self.end_step(begins)
        if self.fault == "late window":
            self.cut_window((self.culprit + 1) % self.ranks)
        return self

    def cut_window(self, rank: int) -> None:
        """The recording of one rank begins thirty steps later than the others', and no call is numbered."""
        begin = next(event["ts"] for event in self.events[rank] if event["name"] == "ProfilerStep#30")
        self.events[rank] = [event for event in self.events[rank] if event["ts"] >= begin]
        for events in self.events:
            for event in events:
                event["args"].pop("Seq", None)

    def end_step(self, begins: list[float]) -> None:
        self.sync()
        for rank in range(self.ranks):
            self.event(rank, f"ProfilerStep#{self.step}", begins[rank], self.now[rank], "user_annotation")

    def spoil(self, how: str, rank: int) -> "Ranks":
        """Makes one event of a rank absurd: of which sort, and what of it."""
        sort, _, what = how.partition(" ")
        fits = {"host": lambda e: e["cat"] == "cpu_op" and e["name"].startswith("aten"), "kernel": lambda e: e["cat"] == "kernel",
                "collective": lambda e: "Collective name" in e["args"] and (e["cat"] == "kernel") == self.device,
                "range": lambda e: e["name"].startswith(("c10d", "ncclDev")), "data": lambda e: "DataLoader" in e["name"],
                "step": lambda e: e["name"].startswith("ProfilerStep")}[sort]
        events = [event for event in self.events[rank] if fits(event)]
        if events:
            changes = {"long": {"dur": 1e15}, "hours": {"dur": 4e10}, "negative": {"dur": -5e7}, "nan": {"dur": float("nan")},
                       "early": {"ts": -1e15}, "late": {"ts": 8e15}, "text": {"dur": "long"}}
            self.random.choice(events[len(events) // 4:3 * len(events) // 4]).update(changes[what])
        return self

    def link_of_ring(self) -> tuple[int, int]:
        return tuple(sorted([self.culprit, (self.culprit + 1) % self.ranks]))

    def write(self, folder: Path) -> Path:
        """A trace per rank; names say nothing."""
        folder.mkdir(parents=True, exist_ok=True)
        for rank, events in enumerate(self.events):
            top = {"distributedInfo": {"rank": rank, "world_size": self.ranks, "backend": "nccl" if self.device else "gloo"},
                   "baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": events}
            (folder / f"part{(rank * 7 + 3) % 23}.json").write_text(json.dumps(top))
        return folder

    def is_aligned(self, found: dict) -> bool:
        """Whether each clock is known to 0.2 ms where the first rank's shows the origin."""
        if found["clocks"]["aligned"] != self.ranks or not found["clocks"]["connected"]:
            return False
        zero = 6 * DAY_S * 1e9  # of the true clock on a rank without an offset
        for rank, one in enumerate(found["ranks"]):
            true_ms = (found["clocks"]["origin_ns"] - zero) / 1e6
            true_ms = (true_ms - self.offset[0]) / (1 + self.drift[0])
            ahead = self.offset[rank] + self.drift[rank] * true_ms - self.offset[0] - self.drift[0] * true_ms
            if abs((one["clock"]["offset_ns"] if one["clock"]["applied"] else 0) / 1e6 - ahead) > 0.2:
                return False
        return True

    def is_right(self, found: dict) -> bool:
        """Whether horizontal.json names whom it has to, and nobody else."""
        verdict = found["verdict"]
        named = [one["rank"] for one in verdict["culprits"]]
        link = verdict["link"] and (verdict["link"]["from"], verdict["link"]["to"])
        if self.fault == "pipe link":
            stage = self.culprit % (self.ranks - 1)
            return named == [] and link == (stage, stage + 1) and self.is_aligned(found)
        if self.fault == "pipe healthy":
            return named == [] and link is None and verdict["uniform"] is not True and self.is_aligned(found)
        if self.fault in ("healthy", "network", "alternating"):
            return named == [] and link is None
        if self.fault == "uniform":
            return named == [] and link is None and verdict["uniform"] is True
        if self.fault == "link":
            return named == [] and link == self.link_of_ring()
        if self.fault == "late window" and found["clocks"]["residual_ns"] > 100_000:
            return False  # ends of one collective lie closer: others were matched
        return named == [self.culprit] and link is None


SPOILT = tuple(f"{sort} {what}" for sort in ("host", "kernel", "collective", "range", "data", "step")
               for what in ("long", "hours", "negative", "nan", "early", "late", "text"))
FAULTS = ("healthy", "compute", "data", "gc", "checkpoint", "silent", "launch", "throttled", "uniform", "network", "link",
          "alternating", "gc now and then", "pipe healthy", "pipe link", "late window")


def jobs(worlds: tuple[int, ...] = (2, 3, 4, 8, 16), faults: tuple[str, ...] = FAULTS, seeds: int = 1):
    """All of them, in a fixed order."""
    for fault in faults:
        for ranks in worlds:
            if fault in ("link", "pipe link") and ranks < 4 or fault == "alternating" and ranks < 3:
                continue  # a pair has to be compared with others
            for device in (True, False):
                if fault in ("launch", "throttled") and not device:
                    continue
                for clocks in ("same", "ms", "days"):
                    for seed in range(seeds):
                        yield Ranks(fault, ranks, str(seed), device, clocks), f"{fault}-{ranks}-{'nccl' if device else 'gloo'}-{clocks}-{seed}"
