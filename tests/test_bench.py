"""The benchmark of the solver in small: what must hold of its rows on any machine, however fast."""

import time

import numpy as np
import pytest
from sklearn import svm

from svmviz import SVC, SVR
from tests.bench import libsvm, rivals, samples, timing

# Measured only where a package is there.
MAY_BE_EMPTY = ("published",)


@pytest.mark.parametrize("part", libsvm.PARTS)
def test_every_part_is_certified_optimal_and_no_worse_than_its_rival(part, capsys):
    rows = libsvm.run([part], libsvm.SHORT)[part]
    assert rows or part in MAY_BE_EMPTY
    for row in rows:
        if part == "walk":
            # Decisions beside those of LIBSVM, whose kernel values are floats of four bytes.
            assert row.worst < (1e-6 if row.task == "leave one out" else 1e-8), row
            continue
        if part == "warm":
            assert row.optimal, row
            assert row.excess < 1e-6, row
            continue
        certificate = row.certificate
        assert certificate.status == "optimal", row
        # Many problems that each stop at their tolerance: of the last digits luck decides.
        luck = certificate.gap if part == "large" else 0.0
        assert certificate.objective <= row.objective + row.allowed + luck, row
    printed = capsys.readouterr().out
    assert "BLAS threads: " in printed
    ends = {"warm": " yes |", "walk": " fits |"}.get(part, " optimal |")
    assert printed.count(ends) == len(rows)


def test_the_table_for_the_readme_has_a_row_for_each_n_and_a_column_for_each_setting(capsys):
    rows = libsvm.run(["classify"], libsvm.SHORT)["classify"]
    table = libsvm.readme_table(rows)
    assert table in capsys.readouterr().out
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    assert [len(line) for line in lines] == [2 + 4] * (2 + 3)
    assert lines[0][2].strip() == "C=1, tol=0.001"
    assert [line[1].strip() for line in lines[2:]] == ["60", "120", "80"]


def test_a_rival_that_is_not_installed_is_left_out_and_a_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr(rivals, "find_spec", lambda name: name == "clarabel")
    rows = libsvm.run(["distances"], libsvm.SHORT)["distances"]
    assert [row.rival.split()[0] for row in rows] == ["clarabel"]
    assert libsvm.published(libsvm.SHORT) == []
    printed = capsys.readouterr().out
    for name in ("quadprog", "optiml"):
        assert f"{name} is not installed: left out." in printed


def test_a_choice_is_the_option_that_its_rival_is_trained_with():
    row = libsvm._beside_choice(samples.clouds(60), 1.0, {}, {"newton": False}, 1)
    assert row.rival == "newton=False"
    assert row.no_worse


def _soon():
    return lambda: 1 + 1


def _never():
    return lambda: time.sleep(60)


def test_what_takes_too_long_is_stopped():
    assert timing.seconds_within(_soon, 30.0) < 1
    assert timing.seconds_within(_never, 0.05) == np.inf


@pytest.mark.parametrize("classes", [2, 11])
def test_the_objective_of_libsvm_is_read_from_its_coefficients(classes):
    # At a tight tolerance both are at the optimum, so the certificate of ours knows the value.
    some = samples.clouds(60) if classes == 2 else samples.vowel(100)
    options = {"C": 10.0, "gamma": some.gamma, "tol": 1e-9}
    ours, theirs = (make(**options).fit(some.X, some.y) for make in (SVC, svm.SVC))
    value, rounding = rivals.libsvm_objective(theirs, some, ours.kernel_)
    assert value == pytest.approx(ours.certificate_.objective, rel=1e-8)
    assert 0 < rounding < 1e-9 * abs(value)


def test_the_objective_of_libsvm_is_read_from_a_regression():
    some = samples.diabetes(60)
    ours, theirs = (make(C=10.0, tol=1e-9).fit(some.X, some.y) for make in (SVR, svm.SVR))
    value, _ = rivals.libsvm_objective(theirs, some, ours.kernel_)
    assert value == pytest.approx(ours.certificate_.objective, rel=1e-8)


def test_runs_take_turns_and_a_slow_one_is_run_once(monkeypatch):
    monkeypatch.setattr(timing, "SLOW", 2.0)
    now, order = [0.0], []
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])

    def run(name, seconds):
        order.append(name)
        now[0] += seconds
        return name

    ours, theirs = timing.alternate(lambda: run("ours", 1.0), lambda: run("theirs", 3.0), repeats=3)
    assert order == ["ours", "theirs", "ours", "ours"]
    assert (ours, theirs) == ((1.0, "ours"), (3.0, "theirs"))


def test_the_exponent_of_a_power_law_and_the_geometric_mean():
    assert timing.exponent([10, 20, 40], [3.0, 12.0, 48.0]) == pytest.approx(2.0)
    assert timing.geometric_mean([0.5, 2.0, 8.0]) == pytest.approx(2.0)


def test_memory_is_what_a_run_takes_beyond_its_preparation():
    assert timing.memory(_nothing, _ten_megabytes) == pytest.approx(10, abs=2)


def _nothing():
    return None


def _ten_megabytes(_):
    return np.ones(10 * 2**17)
