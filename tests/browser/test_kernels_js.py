"""The browser's kernels, lattices and votes against Python's."""

import re

import numpy as np
import pytest
from sklearn import svm

from svmviz import ADSVC, MCSVC, OneClassSVM
from svmviz.kernels import make_kernel
from svmviz.ui import frontend

pytestmark = pytest.mark.browser

RNG = np.random.default_rng(7)
KERNELS = [
    {"name": "linear", "gamma": 1.0, "degree": 3, "coef0": 0.0},
    {"name": "poly", "gamma": 0.6, "degree": 3, "coef0": 1.5},
    {"name": "poly", "gamma": 1.3, "degree": 10, "coef0": 0.5},
    {"name": "rbf", "gamma": 0.8, "degree": 3, "coef0": 0.0},
    {"name": "laplacian", "gamma": 0.4, "degree": 3, "coef0": 0.0},
    {"name": "sigmoid", "gamma": 0.3, "degree": 3, "coef0": -0.7},
]


def python_gram(spec, A, B):
    kernel = make_kernel(spec["name"], A, gamma=spec["gamma"], degree=spec["degree"], coef0=spec["coef0"])
    return kernel(A, B)


@pytest.mark.parametrize("spec", KERNELS, ids=lambda spec: f"{spec['name']}{spec['degree']}")
@pytest.mark.parametrize("dimensions", [1, 2])
def test_gram_matrix_is_pythons(loaded, spec, dimensions):
    A, B = RNG.normal(size=(12, dimensions)), RNG.normal(size=(9, dimensions))
    gram = loaded.evaluate("([s, A, B]) => [...gramMatrix(s, A, B)]", [spec, A.tolist(), B.tolist()])
    np.testing.assert_allclose(np.reshape(gram, (12, 9)), python_gram(spec, A, B), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("spec", KERNELS, ids=lambda spec: f"{spec['name']}{spec['degree']}")
def test_lattice_values_are_the_decision_function(loaded, spec):
    centres, coef, bias = RNG.normal(size=(8, 2)), RNG.normal(size=8), 0.3
    script = """([s, centres, coef, bias]) =>
        [...new Lattice([-2, 1, -1, 3], 7, 5, s, centres).values(coef, bias)]"""
    values = loaded.evaluate(script, [spec, centres.tolist(), coef.tolist(), bias])
    xx, yy = np.meshgrid(np.linspace(-2, 1, 7), np.linspace(-1, 3, 5))
    expected = python_gram(spec, np.c_[xx.ravel(), yy.ravel()], centres) @ coef + bias
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("spec", KERNELS, ids=lambda spec: f"{spec['name']}{spec['degree']}")
def test_a_lattice_on_a_line_is_the_regression_curve(loaded, spec):
    centres, coef, bias = RNG.normal(size=(6, 1)), RNG.normal(size=6), -0.2
    script = "([s, centres, coef, bias]) => [...new Lattice([-2, 1], 9, 0, s, centres).values(coef, bias)]"
    values = loaded.evaluate(script, [spec, centres.tolist(), coef.tolist(), bias])
    expected = python_gram(spec, np.linspace(-2, 1, 9)[:, None], centres) @ coef + bias
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10)


def test_a_lattice_takes_columns_over_only_where_they_are_the_same(loaded):
    same = loaded.evaluate("""() => {
      const kernel = {name: "poly", gamma: 1, degree: 3, coef0: 0};
      const first = new Lattice([0, 1, 0, 1], 4, 4, kernel, [[0, 0], [1, 1]]);
      const moved = new Lattice([0, 1, 0, 1], 4, 4, kernel, [[0, 0], [1, 0]], first);
      const other = new Lattice([0, 2, 0, 1], 4, 4, kernel, [[0, 0], [1, 1]], first);
      return [moved.columns[0] === first.columns[0], moved.columns[1] === first.columns[1],
              other.columns[0] === first.columns[0]];
    }""")
    assert same == [True, False, False]


def test_level_lines_of_a_circle_close_and_lie_on_it(loaded):
    paths = loaded.evaluate("""() => {
      const n = 41;
      const distance = (k) => Math.hypot(k % n - 20, Math.floor(k / n) - 20);
      const values = Float64Array.from({length: n * n}, (_, k) => distance(k));
      return levelPaths(values, n, n, 12.3);
    }""")
    assert len(paths) == 1
    assert paths[0][0] == paths[0][-1]
    distances = np.hypot(*(np.array(paths[0]) - 20).T)
    np.testing.assert_allclose(distances, 12.3, atol=0.02)


def test_ambiguous_cells_are_decided_by_their_mean(loaded):
    above, below = loaded.evaluate(
        "() => [[3, -1, -1, 3], [1, -3, -3, 1]].map((v) => levelPaths(v, 2, 2, 0).map((p) => p.flat()))"
    )
    assert len(above) == len(below) == 2
    # Mean above the level: lines cut off the two low corners, otherwise the two high ones.
    assert sorted(map(sorted, above)) != sorted(map(sorted, below))


def test_votes_and_ties_are_those_of_scikit_learn(loaded):
    X = RNG.normal(size=(60, 2))
    y = RNG.integers(0, 4, size=60)
    machine = svm.SVC(C=3, gamma=0.8, break_ties=True).fit(X, y)
    pairwise = svm.SVC(C=3, gamma=0.8, decision_function_shape="ovo").fit(X, y)
    places = RNG.uniform(-3, 3, size=(3000, 2))
    # scikit-learn's pairwise values are positive for the FIRST class of the pair.
    values = -pairwise.decision_function(places)
    functions = [{"classes": [a, b]} for a in range(4) for b in range(a + 1, 4)]
    winners = loaded.evaluate(
        "([f, v]) => { const vote = new Vote(f); return v.map((row) => vote.winner(row)); }",
        [functions, values.tolist()],
    )
    np.testing.assert_array_equal(winners, machine.predict(places))


SPEC = {"name": "rbf", "gamma": 0.8, "degree": 3, "coef0": 0.0}
VIEW = [-2.5, 2.5, -2, 2]
SIDES = (31, 27)


def cloud(n_classes):
    y = np.arange(20 * n_classes) % n_classes
    turn = 2 * np.pi * y / n_classes
    return np.c_[np.cos(turn), np.sin(turn)] * 1.1 + RNG.normal(scale=0.6, size=(len(y), 2)), y


def lattice_points():
    xx, yy = np.meshgrid(*(np.linspace(*VIEW[2 * k : 2 * k + 2], SIDES[k]) for k in (0, 1)))
    return np.c_[xx.ravel(), yy.ravel()]


def argmax_model(machine, coef, bias):
    functions = [
        {"coef": row.tolist(), "bias": float(b), "classes": [r]}
        for r, (row, b) in enumerate(zip(coef, bias, strict=True))
    ]
    centres = machine.support_vectors_.tolist()
    return {"kernel": SPEC, "centres": centres, "functions": functions, "decision": "argmax", "hatch": True}


def ad_model(machine, rule):
    prototypes = machine.prototypes_.at(machine.support_)
    offset = prototypes.rho / (1 if rule == "thesis" else 2)
    return argmax_model(machine, prototypes.normals, prototypes.b - offset)


def decided(loaded, model):
    """(label, ambiguous) on every lattice point."""
    rows = loaded.evaluate(
        """([model, view, nx, ny]) => {
          const lattice = new Lattice(view, nx, ny, model.kernel, model.centres);
          const fields = model.functions.map((f) => lattice.values(f.coef, f.bias));
          const decision = decisionOf(model);
          return Array.from({length: nx * ny}, (_, at) => {
            const values = fields.map((f) => f[at]);
            return [decision.labels[decision.winner(values)], decision.ambiguous(values)];
          });
        }""",
        [model, VIEW, *SIDES],
    )
    return [label for label, _ in rows], [bool(unclear) for _, unclear in rows]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rule", ["thesis", "nearest"])
def test_regions_are_the_predictions_of_the_all_distances_machine(loaded, rule, n_classes):
    X, y = cloud(n_classes)
    machine = ADSVC(mu=0.2, rule=rule, kernel="rbf", gamma=SPEC["gamma"]).fit(X, y)
    winners, _ = decided(loaded, ad_model(machine, rule))
    np.testing.assert_array_equal(winners, machine.predict(lattice_points()))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_regions_are_the_predictions_of_crammer_and_singers_machine(loaded, n_classes):
    X, y = cloud(n_classes)
    machine = MCSVC(beta=0.5, kernel="rbf", gamma=SPEC["gamma"]).fit(X, y)
    model = argmax_model(machine, machine.dual_coef_, np.zeros(n_classes))
    winners, unclear = decided(loaded, model)
    np.testing.assert_array_equal(winners, machine.predict(lattice_points()))
    scores = machine._read_values(lattice_points(), machine._scores)
    np.testing.assert_array_equal(unclear, (scores > 0).sum(axis=1) != 1)


def test_the_region_of_the_one_class_machine_is_its_prediction(loaded):
    X, _ = cloud(2)
    machine = OneClassSVM(nu=0.3, kernel="rbf", gamma=SPEC["gamma"]).fit(X)
    function = {"coef": machine.dual_coef_[0].tolist(), "bias": float(machine.intercept_[0]), "classes": [4]}
    model = {"kernel": SPEC, "centres": machine.support_vectors_.tolist(), "functions": [function]}
    labels, _ = decided(loaded, {**model, "decision": "inside"})
    expected = [4 if inside > 0 else None for inside in machine.predict(lattice_points())]
    assert labels == expected
    assert None in labels
    assert 4 in labels


def test_several_functions_of_one_class_share_a_region_without_a_boundary(loaded):
    # Three bumps on a line: the two on the left belong to class 2, the one on the right to class 0.
    lines = loaded.evaluate("""() => {
      const bump = (k) => [0, 1, 2].map((i) => Number(i === k));
      const functions = [2, 2, 0].map((r, k) => ({coef: bump(k), bias: 0, classes: [r]}));
      const kernel = {name: "rbf", gamma: 1, degree: 3, coef0: 0};
      const lattice = new Lattice([-3, 3, -1, 1], 61, 21, kernel, [[-2, 0], [0, 0], [2, 0]]);
      const fields = functions.map((f) => lattice.values(f.coef, f.bias));
      return new RegionMap(fields, decisionOf({decision: "argmax", functions}), 61, 21).boundary();
    }""")
    across = -3 + 0.1 * np.array([x for piece in lines for x, _ in piece])
    np.testing.assert_allclose(across, 1, atol=0.02)
    assert len(lines) >= 20


def test_a_vote_is_ambiguous_where_the_first_place_is_shared(loaded):
    unclear = loaded.evaluate("""() => {
      const vote = new Vote([[0, 1], [0, 2], [1, 2]].map((classes) => ({classes})));
      return [[1, -1, 1], [1, 1, 1], [-1, -1, 3]].map((values) => vote.ambiguous(values));
    }""")
    assert unclear == [True, False, False]


def test_levels_replace_the_margins_and_set_what_is_clear(loaded):
    levels, clear = loaded.evaluate("""() => {
      const functions = [{classes: [0, 1]}];
      const models = [{}, {levels: []}, {levels: [-0.2, 0.2]}, {decision: "inside"}].map((m) => ({functions, ...m}));
      const strengths = models.map((m) => decisionOf(m).strength([0.1], 1));
      return [models.map(levelsOf), strengths];
    }""")
    assert levels == [[-1, 1], [], [-0.2, 0.2], []]
    np.testing.assert_allclose(clear, [0.1, 0.1, 0.5, 0.1])


def test_no_top_level_name_is_declared_twice():
    names = re.findall(r"^(?:const|let|class|function) +(\w+)", frontend.script(), flags=re.MULTILINE)
    assert sorted(names) == sorted(set(names))


def test_every_listed_file_is_there():
    missing = [name for name in frontend.SCRIPTS + frontend.STYLES if not (frontend.HERE / name).exists()]
    assert missing == []
