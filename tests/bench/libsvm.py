"""The solver beside others: LIBSVM in scikit-learn, dense QP solvers, the SMO that optiml publishes, and itself.

Run it with ``python -m tests.bench.libsvm PART`` in the repository, on a machine that is otherwise idle; PART is one
or more of `PARTS`, or ``all``. ``--short`` shows within seconds that it works. The extra ``[bench]`` installs what it
needs; optiml is measured where it is there already. Every ratio is our time over theirs: medians of runs that take
turns in one process, whose BLAS keeps to one thread.
"""

from __future__ import annotations

import os

# NumPy reads it when it is first imported.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import product, starmap
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import svm

from svmviz import ADSVC, SVC, SVR
from svmviz.kernels import GaussianKernel
from svmviz.machines import ad_svm
from svmviz.problem import Certificate, DualProblem
from svmviz.smo import SMOClassifier
from tests.bench import rivals, samples, timing, walks
from tests.bench.samples import Samples
from tests.oracle import scaled_program

Array = np.ndarray

# Our objective counts as at or below theirs to so many digits.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Plan:
    """What to measure, part by part.

    Attributes
    ----------
    plane, cancer, diabetes : tuple of int
        Numbers of samples of `classify` and `regress`.
    Cs, tols : tuple of float
    qp, slow : tuple of (str, int)
        QP solvers and numbers of samples of `distances`; with those of `slow` a solver may take an hour, and is
        stopped after `patience` times our time.
    patience : float
    large : tuple of int
    cache : int
        Of `large`, for both, in MB.
    large_data : tuple of str
        "clouds", "letter" or "vowel".
    path_n, path_steps : int
        Samples and values of C of `warm` and `walk`.
    left_out : tuple of int
        Numbers of samples of `walk` to leave each of them out.
    gammas : tuple of float
        Of `walk`: widths with more and more free multipliers.
    choices, published : tuple of int
        Numbers of samples of `choices` and of `published`.
    small_cache : float
        Of `choices`, in MB.
    repeats : int
    folder : Path, optional
        Where letter.npz is.
    """

    plane: tuple[int, ...] = (200, 500, 1000, 2000)
    cancer: tuple[int, ...] = (200, 500, 569)
    diabetes: tuple[int, ...] = (200, 442)
    Cs: tuple[float, ...] = (1.0, 100.0, 1e4)
    tols: tuple[float, ...] = (1e-3, 1e-6)
    qp: tuple[tuple[str, int], ...] = (("clarabel", 1000), ("quadprog", 1000), ("clarabel", 3000))
    slow: tuple[tuple[str, int], ...] = (("quadprog", 3000),)
    patience: float = 200.0
    large: tuple[int, ...] = (2500, 5000, 10_000, 20_000)
    cache: int = 500
    large_data: tuple[str, ...] = ("clouds", "letter")
    path_n: int = 500
    path_steps: int = 100
    left_out: tuple[int, ...] = (500, 1000)
    gammas: tuple[float, ...] = (1.0, 10.0, 30.0, 100.0, 300.0)
    choices: tuple[int, ...] = (1000, 4000)
    small_cache: float = 4.0
    published: tuple[int, ...] = (200, 500)
    repeats: int = timing.REPEATS
    folder: Path | None = None


SHORT = Plan(
    plane=(60, 120),
    cancer=(80,),
    diabetes=(80,),
    Cs=(1.0, 100.0),
    qp=(("clarabel", 80), ("quadprog", 80)),
    slow=(("quadprog", 100),),
    patience=0.0,
    large=(300, 500),
    cache=1,
    large_data=("vowel",),
    path_n=80,
    path_steps=5,
    left_out=(60,),
    gammas=(1.0, 30.0),
    choices=(120,),
    small_cache=0.01,
    published=(60,),
    repeats=1,
)


@dataclass(frozen=True)
class Comparison:
    """One of our fits beside another.

    Attributes
    ----------
    data : str
    n : int
    setting, rival : str
        The parameters; what the fit is beside.
    ours, theirs : float
        Median times in seconds.
    certificate : Certificate
        Of ours.
    objective : float
        Of theirs: value of the minimised quadratic program.
    allowed : float
        By how much ours may lie above and still count as no worse.
    """

    data: str
    n: int
    setting: str
    rival: str
    ours: float
    theirs: float
    certificate: Certificate
    objective: float
    allowed: float

    @property
    def ratio(self) -> float:
        """Our time over theirs."""
        return self.ours / self.theirs

    @property
    def excess(self) -> float:
        """By how much our objective lies above theirs, in units of its size."""
        return (self.certificate.objective - self.objective) / abs(self.objective)

    @property
    def no_worse(self) -> bool:
        """Whether our objective is at or below theirs."""
        return self.certificate.objective <= self.objective + self.allowed

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""
        return {
            "data": self.data,
            "n": str(self.n),
            "parameters": self.setting,
            "beside": self.rival,
            "ratio": f"{self.ratio:.3f}",
            "status": self.certificate.status,
            "violation": f"{self.certificate.violation:.1e}",
            "gap": f"{self.certificate.gap:.1e}",
            "excess": f"{self.excess:+.1e}",
            "at or below": "yes" if self.no_worse else "NO",
        }


class QPComparison(Comparison):
    """Beside a QP solver: with both objectives."""

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""
        objectives = {"our objective": self.certificate.objective, "their objective": self.objective}
        return super().cells() | {name: f"{value:.10e}" for name, value in objectives.items()}


# Beside LIBSVM


def classify(plan: Plan) -> list[Comparison]:
    """SVC on overlapping clouds in the plane and on Breast cancer."""
    data = [*map(samples.clouds, plan.plane), *map(samples.breast_cancer, plan.cancer)]
    return _grid(plan, data, SVC, svm.SVC)


def regress(plan: Plan) -> list[Comparison]:
    """SVR on a noisy sine and on Diabetes."""
    data = [*map(samples.noisy_sine, plan.plane), *map(samples.diabetes, plan.diabetes)]
    return _grid(plan, data, SVR, svm.SVR)


def _grid(plan: Plan, data: list[Samples], ours: type, theirs: type) -> list[Comparison]:
    """Every C and tol on all data; the table, its summary and the README's."""

    def cell(some: Samples, C: float, tol: float) -> Comparison:
        models = [make(C=C, tol=tol, gamma=some.gamma) for make in (ours, theirs)]
        return _beside_libsvm(some, models, plan.repeats)

    rows = timing.show(starmap(cell, product(data, plan.Cs, plan.tols)))
    print(f"\n{summary(rows, plan)}\n\n{readme_table(rows)}")
    return rows


def _beside_libsvm(some: Samples, models: list[Any], repeats: int) -> Comparison:
    """One of our estimators and one of scikit-learn's with the same parameters on the same data."""
    ours, theirs = models
    times = _fit_in_turns(some, models, repeats)
    value, rounding = rivals.libsvm_objective(theirs, some, ours.kernel_)
    allowed = TOLERANCE * abs(value) + 2 * rounding
    return Comparison(some.name, some.n, _setting(ours), "LIBSVM", *times, ours.certificate_, value, allowed)


def _fit_in_turns(some: Samples, models: list[Any], repeats: int) -> tuple[float, float]:
    """Median times of the fits of two estimators."""
    ours, theirs = timing.alternate(
        *(partial(model.fit, some.X, some.y) for model in models), repeats=repeats
    )
    return ours.seconds, theirs.seconds


def _setting(model: Any) -> str:
    return f"C={model.C:g}, tol={model.tol:g}"


def summary(rows: list[Comparison], plan: Plan) -> str:
    """Geometric mean, the largest ratio, and the cell that is hardest for LIBSVM."""
    largest = max(rows, key=lambda row: row.ratio)
    hard = f"C={max(plan.Cs):g}, tol={min(plan.tols):g}"
    hardest = max((row for row in rows if row.setting == hard), key=lambda row: row.n)
    lines = [_mean("", rows)]
    grid = [row for row in rows if row.n in plan.plane]
    if len(grid) < len(rows):
        lines.append(_mean(f" with n in {', '.join(map(str, plan.plane))}", grid))
    for title, row in (("Largest", largest), ("Hardest", hardest)):
        lines.append(f"{title}: {row.ratio:.3f} ({row.data}, n = {row.n}, {row.setting})")
    lines.append(f"Objective at or below theirs: {sum(row.no_worse for row in rows)} of {len(rows)}")
    return "\n".join(lines)


def _mean(which: str, rows: list[Comparison]) -> str:
    return f"Geometric mean of {len(rows)} ratios{which}: {timing.geometric_mean(r.ratio for r in rows):.3f}"


def readme_table(rows: list[Comparison]) -> str:
    """The ratios alone as a Markdown table: a row for each n of each data set, a column for each setting."""
    settings = list(dict.fromkeys(row.setting for row in rows))
    ratios = {(row.data, row.n, row.setting): _two_digits(row.ratio) for row in rows}
    lines = [f"| data | n | {' | '.join(settings)} |", "|---" * (len(settings) + 2) + "|"]
    for data, n in dict.fromkeys((row.data, row.n) for row in rows):
        lines.append(f"| {data} | {n} | {' | '.join(ratios[data, n, setting] for setting in settings)} |")
    return "\n".join(lines)


def _two_digits(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}"


# Beside dense QP solvers


def distances(plan: Plan) -> list[QPComparison]:
    """All-Distances SVM on four clouds, beside dense QP solvers that get the whole H ready-made."""
    print(
        "mu = 8 / n: each prototype is spread over at least half of its class. That is more than lies among the\n"
        "other classes, so that the reduced hulls stay apart.\n"
        "Our time is that of the whole fit, with its Gram matrix. Theirs leaves out H; for quadprog\n"
        f"{rivals.RIDGE:g} of the largest entry is added to its diagonal. Our tol is the largest power of ten at\n"
        f"which our objective is at or below theirs to {rivals.QP_TOLERANCE:g}."
    )
    missing = [name for name in rivals.QP_SOLVERS if not rivals.installed(name)]
    rows = timing.show(
        _beside_qp(samples.four_clouds(n), name, plan.repeats) for name, n in plan.qp if name not in missing
    )
    for name, n in plan.slow:
        if name not in missing:
            print(_outlasted(name, n, plan))
    return rows


def _outlasted(name: str, n: int, plan: Plan) -> str:
    """A sentence on a QP solver that may take too long to wait for.

    What it would find is not known, so our own certificate says when we are as good.
    """
    some = samples.four_clouds(n)
    for digits in range(3, 13):
        model = ADSVC(mu=8 / n, gamma=some.gamma, tol=10.0**-digits).fit(some.X, some.y)
        if model.certificate_.gap <= rivals.QP_TOLERANCE * model.certificate_.objective:
            break
    ours = timing.median_seconds(partial(model.fit, some.X, some.y), plan.repeats)
    limit = plan.patience * ours
    theirs = timing.seconds_within(partial(_solve_qp, name, n), limit)
    relative = model.certificate_.gap / model.certificate_.objective
    ended = (
        f"took {theirs / ours:.0f} times as long" if theirs < np.inf else f"was stopped after {limit:.0f} s"
    )
    return (
        f"n = {n:,}: ours {ours:.2f} s, certified to {relative:.0e} of the objective (tol={model.tol:g}); "
        f"{name} {ended}" + (f", {plan.patience:g} times ours." if theirs == np.inf else ".")
    )


def _solve_qp(name: str, n: int) -> Callable[[], Array]:
    return rivals.QP_SOLVERS[name](scaled_program(*_qp_problem(samples.four_clouds(n))))


def _qp_problem(some: Samples) -> tuple[DualProblem, Array]:
    """The problem of ADSVC and its whole H."""
    problem = ad_svm.dual_problem(some.y, 8 / some.n, ad_svm.class_links(4))
    X, label = some.X[problem.sample], problem.label
    return problem, problem.coupling[np.ix_(label, label)] * GaussianKernel(some.gamma)(X, X)


def _beside_qp(some: Samples, name: str, repeats: int) -> QPComparison:
    """ADSVC and a QP solver on the same problem."""
    mu = 8 / some.n
    problem, H = _qp_problem(some)
    program = scaled_program(problem, H)
    solve = rivals.QP_SOLVERS[name](program)
    first = timing.timed(solve)
    z = program.unit * first.result
    objective = float(0.5 * z @ (H @ z) + problem.linear @ z)
    model = _as_good(partial(ADSVC, mu=mu, gamma=some.gamma), some, objective)
    fit = partial(model.fit, some.X, some.y)
    ours, theirs = timing.median_seconds(fit, repeats), first.seconds
    if first.seconds <= timing.SLOW:
        ours, theirs = (run.seconds for run in timing.alternate(fit, solve, repeats))
    return QPComparison(
        some.name, some.n, f"mu=8/n, tol={model.tol:g}", f"{name} {version(name)}", ours, theirs,
        model.certificate_, objective, rivals.QP_TOLERANCE * abs(objective),
    )  # fmt: skip


def _as_good(make: Callable[..., Any], some: Samples, objective: float) -> Any:
    """Our machine, trained at the largest power of ten for tol at which its objective is no worse."""
    for digits in range(3, 13):
        model = make(tol=10.0**-digits).fit(some.X, some.y)
        if model.certificate_.objective <= objective + rivals.QP_TOLERANCE * abs(objective):
            break
    return model


# Large problems


@dataclass(frozen=True)
class Memory:
    """Peak memory of two fits beyond what imports and data take, in MB."""

    data: str
    n: int
    ours: float
    theirs: float

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""
        return {
            "data": self.data,
            "n": str(self.n),
            "ours (MB)": f"{self.ours:.0f}",
            "LIBSVM (MB)": f"{self.theirs:.0f}",
        }


def large(plan: Plan) -> list[Comparison]:
    """SVC on many samples: memory, time, and how time grows."""
    names = [*plan.large_data]
    if "letter" in names and not (plan.folder and (plan.folder / "letter.npz").exists()):
        print("Letter is left out: name the folder of letter.npz with --data or SVMVIZ_DATA.")
        names.remove("letter")
    timing.show(_memory(name, plan) for name in names)
    rows = timing.show(_large_fit(name, n, plan) for name in names for n in plan.large)
    print()
    for name in dict.fromkeys(row.data for row in rows):
        mine = [row for row in rows if row.data == name]
        powers = [
            timing.exponent([row.n for row in mine], times)
            for times in ([row.ours for row in mine], [row.theirs for row in mine])
        ]
        print("Time against n, {}: ours n^{:.2f}, LIBSVM n^{:.2f}".format(name, *powers))
    return rows


def _large_fit(name: str, n: int, plan: Plan) -> Comparison:
    some = _large_samples(name, n, plan.folder)
    return _beside_libsvm(
        some, [_large_model(who, name, some, plan.cache) for who in ("ours", "theirs")], plan.repeats
    )


def _large_samples(name: str, n: int, folder: Path | None) -> Samples:
    if name == "letter":
        assert folder is not None
        return samples.letter(n, folder)
    return {"clouds": samples.clouds, "vowel": samples.vowel}[name](n)


def _large_model(who: str, name: str, some: Samples, cache: int) -> Any:
    """Ours or theirs, with a cache of so many MB."""
    make = SVC if who == "ours" else svm.SVC
    return make(C=1.0 if name == "clouds" else 10.0, gamma=some.gamma, cache_size=cache)


def _memory(name: str, plan: Plan) -> Memory:
    """Each fit in a process of its own."""
    prepare = partial(_large_samples, name, max(plan.large), plan.folder)
    some = prepare()
    peaks = [timing.memory(prepare, partial(_fit_large, who, name, plan.cache)) for who in ("ours", "theirs")]
    return Memory(some.name, some.n, *peaks)


def _fit_large(who: str, name: str, cache: int, some: Samples) -> None:
    _large_model(who, name, some, cache).fit(some.X, some.y)


# Ours beside ours


@dataclass(frozen=True)
class Walk:
    """A walk along a grid of C, warm beside cold.

    Attributes
    ----------
    name : str
    warm_pairs, cold_pairs : int
        Pairs moved in all.
    warm, cold : float
        Times in seconds.
    excess : float
        Largest of warm objective minus cold, in units of the cold one's size.
    optimal : bool
        Whether every fit of both is certified optimal.
    """

    name: str
    warm_pairs: int
    cold_pairs: int
    warm: float
    cold: float
    excess: float
    optimal: bool

    def cells(self) -> dict[str, str]:
        """Heading and text of each column."""
        return {
            "direction": self.name,
            "warm pairs": f"{self.warm_pairs:,}",
            "cold pairs": f"{self.cold_pairs:,}",
            "ratio of pairs": f"{self.warm_pairs / self.cold_pairs:.3f}",
            "warm (s)": f"{self.warm:.3f}",
            "cold (s)": f"{self.cold:.3f}",
            "ratio of times": f"{self.warm / self.cold:.3f}",
            "largest excess": f"{self.excess:+.1e}",
            "all optimal": "yes" if self.optimal else "NO",
        }


def warm(plan: Plan) -> list[Walk]:
    """Many values of C, one after another from the last solution beside each afresh."""
    some = samples.clouds(plan.path_n)
    kernel = GaussianKernel(some.gamma)
    make = partial(SMOClassifier, X=some.X, y=some.y, K=kernel(some.X, some.X), kernel=kernel, tol=1e-6)
    upward = np.geomspace(0.1, 1000, plan.path_steps)
    print(f"{plan.path_steps} values of C from 0.1 to 1000, two clouds, n = {some.n}, tol=1e-6")
    return timing.show(
        _walk(name, make, Cs, plan.repeats) for name, Cs in (("upward", upward), ("downward", upward[::-1]))
    )


def _walk(name: str, make: Callable[..., SMOClassifier], Cs: Array, repeats: int) -> Walk:
    warm, cold = timing.alternate(
        lambda: _warm_fits(make, Cs), lambda: [_certificate(make(C=C).minimize()) for C in Cs], repeats
    )
    pairs = [sum(c.iterations for c in run.result) for run in (warm, cold)]
    both = list(zip(warm.result, cold.result, strict=True))
    excess = max((w.objective - c.objective) / abs(c.objective) for w, c in both)
    optimal = all(c.status == "optimal" for one in both for c in one)
    return Walk(name, *pairs, warm.seconds, cold.seconds, excess, optimal)


def _warm_fits(make: Callable[..., SMOClassifier], Cs: Array) -> list[Certificate]:
    machine = make(C=Cs[0])
    return [_certificate(machine.set_C(C).minimize()) for C in Cs]


def _certificate(machine: SMOClassifier) -> Certificate:
    assert machine.certificate is not None
    return machine.certificate


def choices(plan: Plan) -> list[Comparison]:
    """Shrinking beside none, a cache of all rows beside a small one, Newton phases beside none.

    The first is measured with the small cache: where all rows fit nothing is left out.
    """
    data = [samples.clouds(n) for n in plan.choices]
    small = {"cache_size": plan.small_cache}
    choices = [(small, small | {"shrinking": False}), ({}, small), ({}, {"newton": False})]
    return timing.show(
        _beside_choice(some, C, *choice, plan.repeats)
        for choice, some, C in product(choices, data, plan.Cs[:2])
    )


def _beside_choice(
    some: Samples, C: float, mine: dict[str, Any], choice: dict[str, Any], repeats: int
) -> Comparison:
    ours, theirs = (SVC(C=C, gamma=some.gamma, **options) for options in (mine, choice))
    times = _fit_in_turns(some, [ours, theirs], repeats)
    rival = ", ".join(f"{name}={value!r}" for name, value in choice.items())
    # Ours may lie above by what its certificate leaves open.
    certificate, other = ours.certificate_, theirs.certificate_
    return Comparison(
        some.name, some.n, _setting(ours), rival, *times, certificate, other.objective, certificate.gap
    )


# Beside the published SMO


def published(plan: Plan) -> list[Comparison]:
    """SMOClassifier beside that of optiml, from the same Gram matrix."""
    if not rivals.installed("optiml"):
        return []
    return timing.show(
        _beside_optiml(samples.clouds(n), C, plan.repeats) for n, C in product(plan.published, plan.Cs[:2])
    )


def _beside_optiml(some: Samples, C: float, repeats: int) -> Comparison:
    kernel = GaussianKernel(some.gamma)
    K = kernel(some.X, some.X)
    make = partial(SMOClassifier, X=some.X, y=some.y, K=K, kernel=kernel, C=C, tol=1e-3)
    ours, theirs = timing.alternate(
        lambda: make().minimize(), rivals.optiml_run(some, K, C, tol=1e-3), repeats
    )
    alphas = theirs.result.alphas
    value, rounding = rivals.objective(K, some.y * alphas, -alphas)
    return Comparison(
        some.name, some.n, _setting(ours.result), f"optiml {version('optiml')}", ours.seconds, theirs.seconds,
        _certificate(ours.result), value, TOLERANCE * abs(value) + 2 * rounding,
    )  # fmt: skip


PARTS: dict[str, Callable[[Plan], list[Any]]] = {
    part.__name__: part
    for part in (classify, regress, distances, large, warm, choices, published, walks.walk)
}


def run(parts: Iterable[str], plan: Plan) -> dict[str, list[Any]]:
    """Print each part; their rows."""
    print(
        f"{timing.machine_facts()} (set before NumPy is imported)\n"
        f"A ratio is our time over theirs: medians of {plan.repeats} runs that take turns in one process; what\n"
        f"takes more than {timing.SLOW:g} s runs once. At or below: our objective, to {TOLERANCE:g} and its rounding."
    )
    rows = {}
    for name in parts:
        first_line = (PARTS[name].__doc__ or "").splitlines()[0]
        print(f"\n## {name}: {first_line}", flush=True)
        rows[name] = PARTS[name](plan)
    return rows


def main() -> None:
    """Read the command line and run the parts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "parts", nargs="+", choices=[*PARTS, "all"], metavar=f"{{{','.join([*PARTS, 'all'])}}}"
    )
    parser.add_argument("--short", action="store_true", help="tiny sizes, one run each")
    parser.add_argument("--no-slow", action="store_true", help="leave out quadprog with n = 3,000")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SVMVIZ_DATA"), help="folder of letter.npz"
    )
    args = parser.parse_args()
    plan = replace(SHORT if args.short else Plan(), folder=args.data and Path(args.data))
    if args.no_slow:
        plan = replace(plan, slow=())
    run(PARTS if "all" in args.parts else args.parts, plan)


if __name__ == "__main__":
    main()
