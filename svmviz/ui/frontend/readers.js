// What the multipliers of a run mean at its position: the decision functions of each machine, for the Board.
// Each reader says the same as the machine's file in svmviz/machines and its estimator.

/**
 * The picture of a run at its position, for `Board.setModel`; null where there is nothing to show.
 * @param {Replay} replay
 * @param {object} model meta.model: machine, owners (the class of each label, or of each side), parameters
 */
function readModel(replay, model) {
  return READERS[model.machine](replay, model);
}

const READERS = {
  svc: (replay, { owners }) => voteOf(replay.coefficients(), replay.bias, owners),

  /** Divided by rho, so that the margin is at 1; not divided where the reduced hulls meet, be it but for rounding. */
  nu_svc(replay, { owners }) {
    if (endsUndecided(replay)) return null;
    const [upper, lower] = [replay.groupMiddle(0), replay.groupMiddle(1)];
    const rho = withoutNoise(0.5 * (upper - lower), replay);
    const scale = rho > 0 ? 1 / rho : 1;
    const coef = replay.coefficients().map((value) => scale * value);
    return voteOf(coef, -0.5 * scale * (upper + lower), owners, rho > 0 ? {} : { levels: [] });
  },

  one_class(replay, { owners }) {
    if (endsUndecided(replay)) return null;
    const inside = [...replay.sums[0]].map((value) => value + replay.bias).filter((value) => value > 0);
    const functions = [{ coef: replay.coefficients(), bias: replay.bias, classes: [owners[0]] }];
    return { functions, decision: "inside", scale: middleValue(inside) };
  },

  /** The line that bisects the link of the prototypes, and the lines that support the hulls there. */
  mu_svm(replay, { owners }) {
    const prototypes = prototypesOf(replay);
    if (prototypes.coincide || endsUndecided(replay)) return null;
    const { weights: [minus, plus], products, squares } = prototypes;
    const level = 0.5 * squares[0][1];
    const bias = 0.5 * (products[0][0] - products[1][1]);
    return voteOf(plus.map((value, m) => value - minus[m]), bias, owners, { levels: [-level, level] });
  },

  ad_svm(replay, { owners, parameters }) {
    const prototypes = prototypesOf(replay);
    if (prototypes.coincide || endsUndecided(replay)) return null;
    const scores = prototypeScores(prototypes, parameters.nearest ? 0.5 : 1, owners);
    const halves = prototypes.squares.flat().map((square) => 0.5 * square).filter((half) => half > 0);
    return scoresOf(scores, { levels: [], scale: middleValue(halves) });
  },

  mc_svm(replay, { owners }) {
    return scoresOf(owners.map((owner, r) => ({ coef: replay.coefficients(r), bias: 0, classes: [owner] })));
  },

  svr: (replay, { parameters }) => tubeOf(replay, replay.bias, parameters.epsilon),

  /** The width of the tube is half the distance of the two sides' multipliers. */
  nu_svr(replay) {
    const [upper, lower] = [replay.groupMiddle(0), replay.groupMiddle(1)];
    return tubeOf(replay, -0.5 * (upper + lower), Math.max(0, 0.5 * (lower - upper)));
  },
};

/** Whether a run has ended with a squared length that may be 0: with an objective that is no more than its gap. */
function endsUndecided({ position, length, objective, gap }) {
  return position === length && Number.isFinite(gap[length]) && objective[length] <= gap[length];
}

/** rho, 0 where it is above 0 by rounding alone; as nu_svc.without_noise in Python. */
function withoutNoise(rho, replay) {
  const sum = replay.z.reduce((total, value) => total + Math.abs(value), 0);
  return rho > 0 && rho * sum <= replay.squaredNoise() ? 0 : rho;
}

/** One function for two classes; a classifier without support vectors has no regions to show. */
function voteOf(coef, bias, classes, more = {}) {
  if (coef.every((value) => value === 0)) return null;
  return { functions: [{ coef, bias, classes }], decision: "vote", ...more };
}

/** The largest score wins; of two it is the sign of their difference, as in Python. */
function scoresOf(scores, more = {}) {
  if (scores.length > 2) {
    if (scores.every(({ coef }) => coef.every((value) => value === 0))) return null;
    return { functions: scores, decision: "argmax", ...more };
  }
  const [first, second] = scores;
  const coef = second.coef.map((value, m) => value - first.coef[m]);
  return voteOf(coef, second.bias - first.bias, [...first.classes, ...second.classes], more);
}

/** A curve with its tube; without support vectors it is a constant. */
function tubeOf(replay, bias, epsilon) {
  return { functions: [{ coef: replay.coefficients(), bias, classes: [0, 1] }], decision: "tube", epsilon };
}

/** The median; 1 where there is none. */
function middleValue(values) {
  if (!values.length) return 1;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

/**
 * The prototypes of a machine of reduced hulls: weights of the samples in each, their products and squared distances,
 * and whether all of them are one point but for rounding.
 */
function prototypesOf(replay) {
  const { dual, sums, z } = replay;
  const count = replay.groups;
  const weights = Array.from({ length: count }, () => new Float64Array(replay.centres.length));
  const products = weights.map(() => new Float64Array(count));
  for (let d = 0; d < replay.size; d += 1) {
    if (z[d] === 0) continue;
    weights[dual.group[d]][dual.sample[d]] = z[d];
    for (let p = 0; p < count; p += 1) products[p][dual.group[d]] += z[d] * sums[p][dual.sample[d]];
  }
  const squares = products.map((row, p) => Array.from(row, (value, q) => Math.max(0, row[p] + products[q][q] - 2 * value)));
  const largest = Math.max(...products.map((row, p) => row[p]));
  return { weights, products, squares, coincide: Math.max(...squares.flat()) < 1e-12 * largest };
}

/**
 * v_p'x + b_p - factor * rho_p for each prototype: factor 1 is the thesis's rule (2.2.20), 1/2 the nearest prototype.
 * The thesis has w_p = v_p - mean(v) in the place of v_p; the same number less everywhere changes no decision, and
 * without it few samples have a coefficient.
 */
function prototypeScores({ weights, products }, factor, owners) {
  const count = weights.length;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / count;
  const means = products.map((_, q) => mean(products.map((row) => row[q])));
  const whole = mean(means);
  return weights.map((row, p) => {
    const b = whole - mean([...products[p]]);
    const rho = products[p][p] - 2 * means[p] + whole;
    return { coef: row, bias: b - factor * rho, classes: [owners[p]] };
  });
}
