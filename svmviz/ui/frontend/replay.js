// A recorded run, and the state of the problem at one position of it.
// Nothing here is carried from one position to the next: each is computed from the trace alone, so a picture
// is the same, bit for bit, however one came to it.

const BLOCKED_BY_I = 1;
const BLOCKED_BY_J = 2;
const MEETS = 32 * Number.EPSILON; // as in svmviz/problem.py

/**
 * A recorded run of sequential minimal optimization, and the state of the problem at one position of it.
 *
 * Position k is the state after k steps. `seek(k)` sets: z, sums (of z k(x, x_i) over each label, one a sample),
 * gradient, thresholds, bias, and `step`: what the next step does (null at the last position). It is either `pair`,
 * the same object, or a Newton step; then `jump` says what moves, and `pair` is null.
 */
class Replay {
  /**
   * @param {object} trace meta.trace: dual problem, z0, tol, sentences, names, jumps
   * @param {object} table the step columns: an Arrow table, or an object of arrays
   * @param {object} kernel specification for kernelValue
   * @param {number[][]} centres one point a sample
   * @param {number[]} labels class or target of each sample, for the order on the charts
   * @param {boolean} regression
   * @param {?number[]} owners class that each label of the problem is for
   */
  constructor(trace, table, kernel, centres, labels, regression, owners = null) {
    Object.assign(this, { trace, centres, labels, regression, owners });
    this.columns = readColumns(table);
    this.length = Object.values(this.columns)[0]?.length ?? 0;
    this.jumps = new Map((trace.jumps ?? []).map((jump) => [jump.position, jump]));
    const dual = trace.dual;
    this.dual = dual;
    this.size = dual.sample.length;
    this.lo = Float64Array.from(dual.lo, (value) => value ?? -Infinity);
    this.hi = Float64Array.from(dual.hi, (value) => value ?? Infinity);
    this.sign = Float64Array.from(this.lo, (lo, d) => (lo < 0 && this.hi[d] <= 0 ? -1 : 1));
    this.gram = gramMatrix(kernel, centres, centres);
    this.z = new Float64Array(this.size);
    this.gradient = new Float64Array(this.size);
    this.arrange();
    this.history();
    this.measure();
    this.seek(0);
  }

  /** What is walked: of a run nothing. */
  get walk() {
    return null;
  }

  /** The bound that the chart of the multipliers has a line for. */
  get ceiling() {
    return this.bound(0);
  }

  /** The model as it is here, see readers.js. */
  modelHere(model) {
    return model;
  }

  /** The bound of the multiplier |z| of a dual index (Infinity where there is none). */
  bound(d) {
    return this.sign[d] < 0 ? -this.lo[d] : this.hi[d];
  }

  /**
   * Places of the dual indices on an axis: samples by class and group, in regression by x. The two sides of a sample
   * are on one place, its multipliers for several classes beside each other.
   */
  arrange() {
    const { sample, group, label } = this.dual;
    const count = this.centres.length;
    const several = this.size > count;
    this.twoSided = several && this.sign.some((sign) => sign < 0);
    this.perSample = several && !this.regression ? this.dual.coupling.length : 1; // multipliers beside each other
    const groupOf = new Int32Array(count);
    if (!several) sample.forEach((m, d) => { groupOf[m] = group[d]; });
    const value = (m) => (this.regression ? this.centres[m][0] : this.labels[m]);
    const order = Array.from({ length: count }, (_, m) => m)
      .sort((a, b) => value(a) - value(b) || groupOf[a] - groupOf[b] || a - b);
    const place = new Int32Array(count);
    order.forEach((m, rank) => { place[m] = rank; });
    this.slots = count;
    const beside = (d) => (0.8 * (label[d] - (this.perSample - 1) / 2)) / this.perSample;
    this.slot = Float64Array.from(sample, (m, d) => place[m] + (this.perSample > 1 ? beside(d) : 0));
    this.blocks = this.regression ? [] : classBlocks(order.map((m) => this.labels[m]));
    this.groups = Math.max(0, ...group) + 1;
    this.spans = Array.from({ length: this.groups }, () => [Infinity, -Infinity]);
    for (let d = 0; d < this.size; d += 1) {
      const span = this.spans[group[d]];
      span[0] = Math.min(span[0], place[sample[d]]);
      span[1] = Math.max(span[1], place[sample[d]]);
    }
  }

  /** Objective, lower bound and gap at every position. */
  history() {
    const { objective_before: before, objective_after: after, gap_before: gapBefore, gap_after: gapAfter } = this.columns;
    const last = this.length - 1;
    const along = (first, then) => Float64Array.from({ length: this.length + 1 }, (_, k) =>
      k <= last ? first[k] : last >= 0 ? then[last] : NaN);
    this.objective = along(before, after);
    this.gap = along(gapBefore, gapAfter);
    if (last < 0) this.objective[0] = this.trace.objective ?? 0;
    if (last < 0) this.gap[0] = this.trace.gap ?? 0;
    // Without a bound at the end (the kernel is not positive semidefinite) there was none on the way.
    if (this.trace.gap === null) this.gap.fill(NaN);
    this.lowerBound = this.objective.map((value, k) => value - this.gap[k]);
  }

  /** The gap at a position in words. */
  gapText(k, digits) {
    return Number.isFinite(this.gap[k]) ? readableNumber(this.gap[k], digits) : "unknown";
  }

  /** Ranges that hold for the whole run, so that the axes stand still while it plays. */
  measure() {
    let [low, high, largest] = [Infinity, -Infinity, 0];
    const looks = Math.min(this.length, 40);
    for (let look = 0; look <= looks; look += 1) {
      this.seek(looks ? Math.round((look * this.length) / looks) : 0);
      for (const value of this.gradient) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      for (const value of this.z) largest = Math.max(largest, Math.abs(value));
    }
    for (const name of ["z_i_after", "z_j_after"]) {
      for (const value of this.columns[name] ?? []) largest = Math.max(largest, Math.abs(value));
    }
    for (const { after } of this.jumps.values()) {
      for (const value of after) largest = Math.max(largest, Math.abs(value));
    }
    const air = 0.18 * (high - low) || 1; // room for the names of the thresholds
    this.gradientRange = [low - air, high + air];
    const bound = Math.max(...this.sign.map((_, d) => this.bound(d)));
    this.bounded = Number.isFinite(bound);
    this.top = this.bounded && bound <= 4 * largest ? bound : 1.25 * largest || (this.bounded ? bound : 1);
  }

  /** Goes to position k and computes everything there from the trace. */
  seek(k) {
    this.position = Math.min(Math.max(0, Math.round(k)), this.length);
    const { i, j, z_i_after: zi, z_j_after: zj } = this.columns;
    this.z.set(this.trace.z0);
    for (let step = 0; step < this.position; step += 1) {
      const jump = this.jumps.get(step);
      if (jump) {
        jump.indices.forEach((d, f) => { this.z[d] = jump.after[f]; });
      } else {
        this.z[i[step]] = zi[step];
        this.z[j[step]] = zj[step];
      }
    }
    this.computeGradient();
    this.step = this.position < this.length ? this.stepAt(this.position) : null;
    this.jump = this.jumps.has(this.position) ? this.jumpHere(this.jumps.get(this.position)) : null;
    this.pair = this.jump ? null : this.step;
    this.thresholds = this.computeThresholds();
  }

  /**
   * The multiplier of a group: what the walk says where one of it is free; otherwise the middle of its thresholds, the
   * finite one where one is infinite, as in Python.
   */
  groupMiddle(group) {
    if (this.nu && this.hasFree(group)) return this.nu[group];
    const { lowestRise, highestFall } = this.groupThresholds(group, this.near());
    const ends = [lowestRise, highestFall].filter(Number.isFinite);
    return ends.reduce((sum, end) => sum + end / ends.length, 0);
  }

  /** Nearer to its bound than this a multiplier counts as there once it is read, as AT_BOUND in Python. */
  near() {
    return 1e-11 * this.z.reduce((largest, z) => Math.max(largest, Math.abs(z)), 0);
  }

  /** Whether a multiplier of a group may go both ways. */
  hasFree(group) {
    const near = this.near();
    for (let d = 0; d < this.size; d += 1) {
      if (this.dual.group[d] === group && this.mayRise(d, near) && this.mayFall(d, near)) return true;
    }
    return false;
  }

  /** What rounding may make of z'Hz where it is 0, as squared_noise in Python. */
  squaredNoise() {
    const { sample, label, coupling, diagonal } = this.dual;
    let [largest, sum] = [0, 0];
    for (let d = 0; d < this.size; d += 1) {
      const entry = coupling[label[d]][label[d]] * this.gram[sample[d] * (this.centres.length + 1)] + (diagonal?.[d] ?? 0);
      largest = Math.max(largest, Math.abs(entry));
      sum += Math.abs(this.z[d]);
    }
    return MEETS * largest * sum ** 2;
  }

  /** The bias of a machine of one group. */
  get bias() {
    return -this.groupMiddle(0) || 0;
  }

  /** One step as an object of numbers. */
  stepAt(k) {
    const step = {};
    for (const [name, values] of Object.entries(this.columns)) step[name] = values[k];
    return step;
  }

  /** What a Newton step changes here: multipliers, and gradients as distances from the mean of the free in their group. */
  jumpHere(jump) {
    const { indices, after } = jump;
    const before = indices.map((d) => this.z[d]);
    const change = after.map((value, f) => value - before[f]);
    const gradients = indices.map((d) => this.gradient[d]);
    const later = gradients.map((value, f) => value + this.productWith(indices, change, indices[f]));
    return { ...jump, before, change, apart: [gradients, later].map((values) => this.centred(indices, values)) };
  }

  /** The entry of one dual index in H times a change of some. */
  productWith(indices, change, d) {
    const { sample, label, coupling, diagonal } = this.dual;
    const [row, couplings] = [sample[d] * this.centres.length, coupling[label[d]]];
    let sum = 0;
    indices.forEach((e, f) => {
      sum += change[f] * (couplings[label[e]] * this.gram[row + sample[e]] + (e === d && diagonal ? diagonal[d] : 0));
    });
    return sum;
  }

  /** Values of some dual indices, less the mean of their group. */
  centred(indices, values) {
    const totals = new Map();
    indices.forEach((d, f) => {
      const [sum, count] = totals.get(this.dual.group[d]) ?? [0, 0];
      totals.set(this.dual.group[d], [sum + values[f], count + 1]);
    });
    return values.map((value, f) => {
      const [sum, count] = totals.get(this.dual.group[indices[f]]);
      return value - sum / count;
    });
  }

  /** gradient = H z + p, from the multipliers and the Gram matrix of the samples. */
  computeGradient() {
    const { sample, label, coupling, p, diagonal } = this.dual;
    const count = this.centres.length;
    const sums = coupling.map(() => new Float64Array(count));
    this.sums = sums;
    for (let d = 0; d < this.size; d += 1) {
      const z = this.z[d];
      if (z === 0) continue;
      const sum = sums[label[d]];
      const row = sample[d] * count;
      for (let m = 0; m < count; m += 1) sum[m] += z * this.gram[row + m];
    }
    for (let d = 0; d < this.size; d += 1) {
      let value = p[d] + (diagonal ? diagonal[d] * this.z[d] : 0);
      for (let l = 0; l < coupling.length; l += 1) value += coupling[label[d]][l] * sums[l][sample[d]];
      this.gradient[d] = value;
    }
  }

  /** Coefficient of each sample in the decision function of one label. */
  coefficients(label = 0) {
    const coef = new Float64Array(this.centres.length);
    for (let d = 0; d < this.size; d += 1) {
      coef[this.dual.sample[d]] += this.dual.coupling[label][this.dual.label[d]] * this.z[d];
    }
    return coef;
  }

  mayRise(d, near = 0) {
    return this.hi[d] - this.z[d] > near;
  }

  mayFall(d, near = 0) {
    return this.z[d] - this.lo[d] > near;
  }

  /** The two thresholds of the group that the pair is in (otherwise of the group that is violated most). */
  computeThresholds() {
    if (this.pair) return this.groupThresholds(this.pair.group);
    const all = Array.from({ length: this.groups }, (_, g) => this.groupThresholds(g));
    return all.reduce((worst, one) => (one.violation > worst.violation ? one : worst));
  }

  groupThresholds(group, near = 0) {
    let [lowestRise, highestFall] = [Infinity, -Infinity];
    for (let d = 0; d < this.size; d += 1) {
      if (this.dual.group[d] !== group) continue;
      if (this.mayRise(d, near)) lowestRise = Math.min(lowestRise, this.gradient[d]);
      if (this.mayFall(d, near)) highestFall = Math.max(highestFall, this.gradient[d]);
    }
    return { group, lowestRise, highestFall, violation: highestFall - lowestRise };
  }

  /** Per sample: 0 no support vector, 1 free, 2 at its bound. */
  status() {
    const status = new Array(this.centres.length).fill(0);
    for (let d = 0; d < this.size; d += 1) {
      if (this.z[d] === 0) continue;
      const free = this.mayRise(d) && this.mayFall(d);
      const m = this.dual.sample[d];
      if (free) status[m] = 1;
      else if (status[m] === 0) status[m] = 2;
    }
    return status;
  }

  multiplier(d, z = this.z[d]) {
    return this.sign[d] * z || 0;
  }

  /** Which way a growing z goes in pictures: with its multiplier; where two share a place, 1 for both. */
  upwards(d) {
    return this.twoSided ? 1 : this.sign[d];
  }

  name(d) {
    return this.trace.names?.[d] ?? String(this.dual.sample[d] + 1);
  }

  /** The sign the multiplier of a dual index goes by, such as α, or α* on the lower side of a regressor. */
  letter(d) {
    return this.sign[d] < 0 ? this.words.minus : this.words.plus;
  }

  /** What the signed multipliers are called. */
  get words() {
    return this.trace.words ?? { plus: "α", minus: "α", z: "±α", bound: "C", edge: "the margin" };
  }

  /** The bound that a multiplier has reached, as it is called. */
  boundName(z) {
    return z === 0 ? "0" : this.words.bound;
  }

  /** A group's name; empty where there is only one. */
  groupName(group) {
    return this.groups > 1 ? this.trace.groups?.[group] ?? `group ${group + 1}` : "";
  }

  /** The class whose colour a dual index has: its sample's, or of several multipliers a sample the one it is for. */
  classOf(d) {
    return this.perSample > 1 && this.owners ? this.owners[this.dual.label[d]] : this.labels[this.dual.sample[d]];
  }

  sentence(k = this.position) {
    return this.trace.sentences?.[k] ?? "";
  }
}

function readColumns(table) {
  if (!table) return {};
  if (typeof table.getChild !== "function") return { ...table };
  return Object.fromEntries(table.schema.fields.map(({ name }) => [name, table.getChild(name).toArray()]));
}

/** Runs of equal labels in a sorted list: [{label, from, to}]. */
function classBlocks(labels) {
  const blocks = [];
  labels.forEach((label, place) => {
    const open = blocks[blocks.length - 1];
    if (open && open.label === label) open.to = place;
    else blocks.push({ label, from: place, to: place });
  });
  return blocks;
}
