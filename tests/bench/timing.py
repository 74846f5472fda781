"""What the benchmarks share: times, the machine that they were taken on, memory, and tables."""

from __future__ import annotations

import os
import platform
import queue
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_info

REPEATS = 5
# What takes longer than this many seconds is run once only.
SLOW = 4.0


class Timed(NamedTuple):
    """Seconds that a run took (the median, of several), and what it returned."""

    seconds: float
    result: Any


def timed(run: Callable[[], Any]) -> Timed:
    """One run."""
    start = time.perf_counter()
    result = run()
    return Timed(time.perf_counter() - start, result)


def median_seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median time of several runs."""
    return float(np.median([timed(run).seconds for _ in range(repeats)]))


def alternate(
    ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = REPEATS
) -> tuple[Timed, Timed]:
    """Medians of two that take turns, so that a noisy moment hits both. A slow one runs once only."""
    runs: tuple[list[Timed], list[Timed]] = ([], [])
    for _ in range(repeats):
        for run, past in zip((ours, theirs), runs, strict=True):
            if not past or past[0].seconds <= SLOW:
                past.append(timed(run))
    mine, others = (Timed(float(np.median([run.seconds for run in past])), past[-1].result) for past in runs)
    return mine, others


def exponent(sizes: Iterable[int], times: Iterable[float]) -> float:
    """The a of the power law time = c n^a that fits best in logarithms."""
    return float(np.polyfit(np.log([*sizes]), np.log([*times]), 1)[0])


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean that treats twice as fast and twice as slow alike."""
    return float(np.exp(np.mean(np.log([*ratios]))))


def machine_facts() -> str:
    """Processor, versions and threads, one line."""
    names = ("numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    threads = sorted({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
    return (
        f"{_processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}; "
        f"BLAS threads: {' and '.join(map(str, threads)) or 'unknown'}"
    )


def _processor() -> str:
    """Name of the processor, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def memory(prepare: Callable[[], Any], run: Callable[[Any], object]) -> float:
    """Most memory that run(prepare()) holds beyond what it takes to import and prepare, in MB.

    It is measured in a new process, so both must be functions of a module.
    """
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_growth, (prepare, run))


def _peak_growth(prepare: Callable[[], Any], run: Callable[[Any], object]) -> float:
    prepared = prepare()
    before = _peak()
    run(prepared)
    return _peak() - before


def seconds_within(prepare: Callable[[], Callable[[], object]], limit: float) -> float:
    """Seconds that prepare()() takes, the preparation not counted; inf where it is stopped after `limit`.

    It runs in a new process, so `prepare` must be a function of a module.
    """
    context = get_context("spawn")
    ready, done = context.Event(), context.Queue()
    process = context.Process(target=_run_prepared, args=(prepare, ready, done))
    process.start()
    while not ready.wait(1.0):
        if not process.is_alive():
            raise RuntimeError("The process that was to be timed ended before it began.")
    try:
        return float(done.get(timeout=limit))
    except queue.Empty:
        process.kill()
        return np.inf
    finally:
        process.join()


def _run_prepared(prepare: Callable[[], Callable[[], object]], ready: Any, done: Any) -> None:
    run = prepare()
    ready.set()
    done.put(timed(run).seconds)


def _peak() -> float:
    """Most memory that this process has held so far, in MB."""
    # Where Linux tells it, VmHWM: ru_maxrss there begins with the peak of the process that started this one.
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    own = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    if own:
        return own[0] / 2**10
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


class Row(Protocol):
    """A row of a printed table."""

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""


AnyRow = TypeVar("AnyRow", bound=Row)


def show(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """Print rows as a Markdown table, each as soon as it is there; the rows."""
    shown: list[AnyRow] = []
    for row in rows:
        cells = row.cells()
        if not shown:
            # The first row stands for those to come, which may be a little wider.
            widths = [max(8, len(heading), len(text) + 4) for heading, text in cells.items()]
            print("\n" + _line(cells, widths))
            print(_line(["-" * width for width in widths], widths))
        print(_line(cells.values(), widths), flush=True)
        shown.append(row)
    return shown


def _line(texts: Iterable[str], widths: list[int]) -> str:
    return f"| {' | '.join(text.rjust(width) for text, width in zip(texts, widths, strict=True))} |"
