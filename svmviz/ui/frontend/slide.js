// A path: all solutions while one parameter slides; the state at one value, its numbers and words.

const SLIDE_SIGNS = { C: "C", epsilon: "ε", mu: "μ" };
const SLIDE_TOLD = 2; // most events of one breakpoint that are told one by one
const TIED_WORDS = "All multipliers are at this small C: every point weighs the same, and the larger class wins everywhere. Leave one out, and that is always the other class.";
const SURVEYED = 160; // steps between the values, evenly on the slider, at which errors and widths are computed

/** So many of something: "1 value", "2 values". */
function countOf(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** The numbers of a little-endian array in base 64. */
function unpacked(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer);
}

/**
 * The machine at one value of the parameter. Between two knots of the path all multipliers are linear, so that nothing
 * is asked of the server; what is read off them is read as off a recorded run.
 */
class PathState extends Replay {
  /** @param {object} path see svmviz/ui/slide.py @param {number} value to begin with @param {boolean} regression */
  constructor(path, value, regression) {
    const { model, dual, labels } = path;
    super({ dual, z0: new Float64Array(dual.sample.length), gap: null }, null, model.kernel, model.centres, labels, regression, model.owners);
    this.path = path;
    this.knots = Float64Array.from(path.knots);
    this.table = unpacked(path.z, Float64Array);
    this.middles = unpacked(path.nu, Float64Array);
    this.statuses = unpacked(path.status, Uint8Array);
    this.breaks = breaksOf(path.events);
    this.largest = this.table.reduce((most, z) => Math.max(most, Math.abs(z)), 0) || 1;
    this.first = { lo: this.lo, hi: this.hi, p: dual.p, diagonal: dual.diagonal }; // the problem at the start
    this.dual = { ...dual, p: [...dual.p], diagonal: [...dual.diagonal] };
    [this.lo, this.hi] = [[...this.lo], [...this.hi]];
    this.survey = { error: new Float64Array(SURVEYED + 1).fill(NaN), width: new Float64Array(SURVEYED + 1).fill(NaN), next: 0 };
    this.leftOut = null; // the leave-one-out error: {known: [[value, error, or why there is none]], total}
    this.go(value);
  }

  // ---- the parameter and its slider --------------------------------------------------------------

  /** The value at a place of the slider, 0 to 1. */
  valueAt(place) {
    const { start, stop, logarithmic } = this.path;
    if (place <= 0) return start;
    if (place >= 1) return stop;
    return logarithmic ? start * (stop / start) ** place : start + place * (stop - start);
  }

  placeOf(value) {
    const { start, stop, logarithmic } = this.path;
    const place = logarithmic ? Math.log(value / start) / Math.log(stop / start) : (value - start) / (stop - start);
    return Math.min(1, Math.max(0, place));
  }

  // ---- the solution ------------------------------------------------------------------------------

  /** The stretch between two knots that a value is in, and how far: [k, 0..1]. */
  stretchAt(value) {
    const { knots } = this;
    let [low, high] = [0, knots.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (knots[middle] <= value) low = middle;
      else high = middle;
    }
    const span = knots[low + 1] - knots[low];
    return [low, span > 0 ? Math.min(1, Math.max(0, (value - knots[low]) / span)) : 1];
  }

  /** Go to a value of the parameter. */
  go(value) {
    const { start, stop } = this.path;
    this.value = Math.min(Math.max(value, start), stop);
    const [k, share] = this.stretchAt(this.value);
    this.stretch = k;
    this.#move();
    for (let d = 0; d < this.size; d += 1) this.z[d] = this.#snapped(d, between(this.table, this.size, k, share, d));
    this.nu = Array.from({ length: this.groups }, (_, g) => between(this.middles, this.groups, k, share, g));
    this.computeGradient();
    this.picture = this.#read();
  }

  /** The problem at the value: its box grows with it, or its diagonal shrinks, or epsilon shifts its linear term. */
  #move() {
    const { path, first, value, lo, hi, dual, sign } = this;
    const grown = path.bound === "value" ? value / path.start : 1;
    const shrunk = path.curved ? path.start / value : 1;
    const shift = path.parameter === "epsilon" ? value - path.start : 0;
    for (let d = 0; d < this.size; d += 1) {
      [lo[d], hi[d]] = [grown * first.lo[d], grown * first.hi[d]];
      dual.p[d] = first.p[d] + sign[d] * shift;
      dual.diagonal[d] = shrunk * first.diagonal[d];
    }
  }

  /** A multiplier that is at a bound but for rounding is exactly there. */
  #snapped(d, z) {
    const nothing = this.path.negligible * this.largest;
    if (z - this.lo[d] <= nothing) return this.lo[d];
    return this.hi[d] - z <= nothing ? this.hi[d] : z;
  }

  #read() {
    const { model, parameter } = this.path;
    const parameters = parameter === "epsilon" ? { ...model.parameters, epsilon: this.value } : model.parameters;
    return readModel(this, { ...model, parameters });
  }

  /** Of each sample: 0 no support vector, 1 free, 2 at the bound. */
  status() {
    const n = this.centres.length;
    return this.statuses.subarray(this.stretch * n, (this.stretch + 1) * n);
  }

  /** The most that a multiplier over a curved path is, as a share of the parameter. */
  get steepest() {
    this.steepestShare ??= this.table.reduce((most, z, at) => Math.max(most, Math.abs(z) / this.knots[Math.floor(at / this.size)]), 0) || 1;
    return this.steepestShare;
  }

  /** The bound of the multipliers at a value of the parameter; without one what their chart ends at. */
  boundAt(value) {
    const { bound, curved } = this.path;
    if (bound === "value") return value;
    if (curved) return this.steepest * value;
    return bound ?? this.largest;
  }

  // ---- numbers -----------------------------------------------------------------------------------

  /** The values of one function at the samples. */
  valuesOf({ coef, bias }) {
    const n = this.centres.length;
    const out = new Float64Array(n).fill(bias);
    for (let i = 0; i < n; i += 1) {
      if (!coef[i]) continue;
      const row = i * n;
      for (let m = 0; m < n; m += 1) out[m] += coef[i] * this.gram[row + m];
    }
    return out;
  }

  /** How many samples lie in the region of another class; null where nothing is decided. */
  wrong() {
    const { picture, labels } = this;
    if (!picture) return null;
    const decision = decisionOf(picture);
    const columns = picture.functions.map((one) => this.valuesOf(one));
    return labels.filter((label, m) => decision.labels[decision.winner(columns.map((column) => column[m]))] !== label).length;
  }

  /** 2 / |w| of the one function. */
  margin() {
    const coef = this.coefficients();
    const square = coef.reduce((sum, value, m) => sum + value * this.sums[0][m], 0);
    return square > 0 ? 2 / Math.sqrt(square) : Infinity;
  }

  /** The smallest distance of two prototypes. */
  distance() {
    const { squares } = prototypesOf(this);
    return Math.sqrt(Math.min(...squares.flatMap((row, p) => row.filter((_, q) => q > p))));
  }

  /** How many samples lie outside of the tube, and the root of the mean squared error. */
  residuals() {
    const fitted = this.valuesOf(this.picture.functions[0]);
    const errors = this.path.targets.map((target, m) => Math.abs(target - fitted[m]));
    const scale = Math.max(...this.path.targets.map(Math.abs), 1e-300);
    return {
      outside: errors.filter((error) => error > this.picture.epsilon + 1e-7 * scale).length,
      rms: Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length),
    };
  }

  /** The training error: in per cent of the samples, or the root of the mean squared error; NaN where nothing is decided. */
  error() {
    if (this.regression) return this.residuals().rms;
    const wrong = this.wrong();
    return wrong === null ? NaN : (100 * wrong) / this.labels.length;
  }

  /** What `width` is, as the numbers call it; null where it does not change. */
  widthName() {
    const { model, parameter } = this.path;
    if (this.regression) return model.machine === "svr" && parameter === "C" ? null : "Tube width 2ε";
    if (model.machine === "svc") return "Margin width 2/‖w‖";
    return this.groups > 2 ? "Distance of the nearest prototypes" : "Distance of the hulls";
  }

  /** Width of tube or margin, or the smallest distance of two prototypes; NaN for a margin without end. */
  width() {
    if (this.regression) return 2 * this.picture.epsilon;
    if (this.path.model.machine !== "svc") return this.picture ? this.distance() : 0;
    const width = this.margin();
    return Number.isFinite(width) ? width : NaN;
  }

  // ---- along the path ----------------------------------------------------------------------------

  get isSurveyed() {
    return this.survey.next > SURVEYED;
  }

  /** Compute error and width at the next values, as long as there is time. */
  surveyOn(hasTime) {
    const { survey, value } = this;
    while (!this.isSurveyed && hasTime()) {
      this.go(this.valueAt(survey.next / SURVEYED));
      [survey.error[survey.next], survey.width[survey.next]] = [this.error(), this.width()];
      survey.next += 1;
    }
    this.go(value);
  }

  /** What the survey has of "error" or "width". */
  surveyed(name) {
    return { xs: Array.from(this.survey[name], (_, k) => this.valueAt(k / SURVEYED)), values: this.survey[name] };
  }

  /** The leave-one-out error, in the measure of the training error; NaN where nothing is decided or some cannot be left out. */
  unseen() {
    const known = this.leftOut?.known ?? [];
    const share = this.regression ? 1 : 100 / this.labels.length;
    const { error, next } = this.survey;
    const near = (value) => Math.round(SURVEYED * this.placeOf(value));
    const decided = (value) => near(value) >= next || !Number.isNaN(error[near(value)]); // before the survey it is taken to be
    return { xs: known.map(([value]) => value), values: known.map(([value, one]) => (typeof one === "string" || !decided(value) ? NaN : share * one)) };
  }

  /** Where in the leave-one-out errors the nearest value on the slider is; -1 without any. */
  nearestUnseen() {
    return nearestTo((this.leftOut?.known ?? []).map(([value]) => value), (value) => this.placeOf(value), this.placeOf(this.value));
  }

  /** Support vectors here: [all, at the bound]. */
  counts() {
    return countsOf(this.status());
  }

  /** Support vectors over the path: all (0), or those at the bound (1). */
  counted(which) {
    const n = this.centres.length;
    this.countTable ??= Array.from({ length: this.knots.length - 1 }, (_, k) => countsOf(this.statuses.subarray(k * n, (k + 1) * n)));
    const xs = Array.from({ length: 2 * SURVEYED + 1 }, (_, k) => this.valueAt(k / (2 * SURVEYED)));
    return { xs, values: xs.map((value) => this.countTable[this.stretchAt(value)[0]][which]) };
  }

  // ---- what is told ------------------------------------------------------------------------------

  /** Name and value of all that the page counts here. */
  numbers() {
    const n = this.centres.length;
    const [used, bound] = this.counts();
    const rows = [["Support vectors", `${used} of ${n}: ${used - bound} free, ${bound} at the bound`]];
    if (this.regression) {
      const { outside, rms } = this.residuals();
      rows.push(["Tube width 2ε", readableNumber(this.width(), 4)], ["Outside of the tube", `${outside} of ${n}`]);
      rows.push(["Training error (rms)", readableNumber(rms, 4)]);
    } else {
      const touch = this.path.model.machine !== "svc" && !this.picture;
      const name = this.widthName().replace("Distance of the nearest", "Nearest");
      rows.push([name, touch ? "0: they meet" : readableNumber(this.width(), 4)]);
      const wrong = this.wrong();
      rows.push(["Training error", wrong === null ? "nothing is decided" : this.shareText(wrong)]);
    }
    return [...rows, ["Leave-one-out error", this.unseenText()]];
  }

  shareText(count) {
    const n = this.labels.length;
    return `${count} of ${n} (${readableNumber((100 * count) / n, 3)} %)`;
  }

  /** The leave-one-out error at the nearest value at which it has been computed. */
  unseenText() {
    const near = this.nearestUnseen();
    if (near < 0) return "–";
    const [value, error] = this.leftOut.known[near];
    const at = `at ${SLIDE_SIGNS[this.path.parameter]} = ${readableNumber(value, 3)}`;
    if (typeof error === "string") return `none ${at}`;
    if (Number.isNaN(this.unseen().values[near])) return `nothing is decided ${at}`;
    return `${this.regression ? readableNumber(error, 4) : this.shareText(error)} ${at}`;
  }

  /** What needs words about the leave-one-out error at the value: why there is none, or why it is so large; or null. */
  unseenWords() {
    const near = this.nearestUnseen();
    if (near < 0) return null;
    const [value, error] = this.leftOut.known[near];
    if (Math.abs(this.placeOf(value) - this.placeOf(this.value)) > 0.51 / (this.leftOut.total - 1)) return null;
    const at = `at ${SLIDE_SIGNS[this.path.parameter]} = ${readableNumber(value, 3)}`;
    if (typeof error === "string") return { head: `No leave-one-out error ${at}.`, text: error };
    return error === this.labels.length && this.isTied(value) ? { head: `Leave-one-out is wrong every time ${at}.`, text: TIED_WORDS } : null;
  }

  /** Whether both classes have as many samples and every multiplier is at C: any sample that leaves turns the majority. */
  isTied(value) {
    const { labels, path, statuses } = this;
    if (path.model.machine !== "svc") return false;
    const [n, k] = [labels.length, this.stretchAt(value)[0]];
    const bound = countsOf(statuses.subarray(k * n, (k + 1) * n))[1];
    return bound === n && 2 * labels.filter((label) => label === labels[0]).length === n;
  }

  // ---- breakpoints -------------------------------------------------------------------------------

  /** The breakpoint that is nearest on the slider, as its number from 0; -1 without any. */
  nearestBreak() {
    return nearestTo(this.breaks, ({ value }) => this.placeOf(value), this.placeOf(this.value));
  }

  /** The next breakpoint after (1) or before (-1) the value; null without one. */
  nextBreak(way) {
    const slack = 1e-12 * Math.abs(this.value);
    if (way > 0) return this.breaks.find(({ value }) => value > this.value + slack) ?? null;
    return this.breaks.findLast(({ value }) => value < this.value - slack) ?? null;
  }
}

/** Row `k` of a table with so many columns, and the next, mixed. */
function between(table, columns, k, share, column) {
  const [from, to] = [table[k * columns + column], table[(k + 1) * columns + column]];
  return share >= 1 ? to : from + share * (to - from);
}

/** Of a list of status: [support vectors, those at the bound]. */
function countsOf(status) {
  let [used, bound] = [0, 0];
  for (const one of status) {
    if (one) used += 1;
    if (one === POINT_STATUS.BOUND) bound += 1;
  }
  return [used, bound];
}

/** Events at one value together: [{value, events: [[sample, what]]}]. */
function breaksOf(events) {
  const breaks = [];
  for (const [value, sample, what] of events) {
    const last = breaks.at(-1);
    if (last && value - last.value <= 1e-10 * Math.abs(value)) last.events.push([sample, what]);
    else breaks.push({ value, events: [[sample, what]] });
  }
  return breaks;
}

// ---- words ----------------------------------------------------------------------------------------

/** What happens to a sample while the parameter grows past an event. */
function eventWords(what, { edge, multiplier, bound }) {
  return {
    "to zero": `its ${multiplier} falls to 0: no support vector any more`,
    "to bound": `its ${multiplier} reaches the bound ${bound} and stays there`,
    "from zero": `it comes onto ${edge} and its ${multiplier} leaves 0, a support vector from here on`,
    "from bound": `it comes back onto ${edge} and its ${multiplier} leaves the bound ${bound}`,
    exchange: `it takes the place of another sample that did the same for the machine`,
    joins: `it comes onto ${edge}`,
    "onto edge": `it comes onto ${edge}; its ${multiplier} stays as it is`,
    "off edge": `it comes off ${edge}; its ${multiplier} stays as it is`,
  }[what];
}

/** The words that a machine has for edge, multiplier and bound. */
function machineWords(state) {
  const { model, parameter } = state.path;
  if (state.regression) return { edge: "the edge of the tube", multiplier: "multiplier", bound: "C" };
  if (model.machine === "svc") return { edge: "the margin", multiplier: "multiplier", bound: "C" };
  return { edge: "the front of its hull", multiplier: "weight", bound: SLIDE_SIGNS[parameter] };
}

/** The name of a sample: its mark and its number on the Board. */
function sampleName(state, sample) {
  const sign = state.regression ? "●" : classStyle(state.labels[sample]).sign;
  return `${sign}\u00a0${state.path.rows[sample] + 1}`;
}

/** What the multipliers are between two breakpoints. */
function betweenWords(state) {
  const { curved, parameter } = state.path;
  if (curved) return `every multiplier is a curve, drawn to ${readableNumber(100 * curved, 2)} % of the picture; at the breakpoints all is exact`;
  return `every multiplier is linear in ${SLIDE_SIGNS[parameter]}${bends(state)}`;
}

/** Why the lines of the chart bend all the same; "" where they do not. */
function bends({ path }) {
  if (!path.logarithmic) return ", so each value in between is exact";
  const axis = `against the logarithm of ${SLIDE_SIGNS[path.parameter]}`;
  return path.bound === "value" ? `; drawn as α/${SLIDE_SIGNS[path.parameter]} ${axis}, it bends` : `; ${axis} it bends`;
}

/** From which value on a path nothing is wrong any more, or that there is none. */
function faultlessWords({ path, regression }) {
  const sign = SLIDE_SIGNS[path.parameter];
  if (path.faultless === null) return `No ${sign} up to ${readableNumber(path.stop, 3)} ${regression ? "has all points in its tube" : "classes all points right"}.`;
  return `Smallest ${sign} ${regression ? "with all points in the tube" : "without training error"}: ${readableNumber(path.faultless, 4)}`;
}

/** What happens at the nearest breakpoint: {head, text}. */
function breakWords(state) {
  const sign = SLIDE_SIGNS[state.path.parameter];
  const k = state.nearestBreak();
  if (k < 0) return { head: "No breakpoint.", text: `No sample changes sides on this path: every multiplier is ${state.path.curved ? "a curve" : `linear in ${sign}`}.` };
  const { value, events } = state.breaks[k];
  const words = machineWords(state);
  const told = events.slice(0, SLIDE_TOLD).map(([sample, what]) => `${sampleName(state, sample)}: ${eventWords(what, words)}`);
  const more = events.length > SLIDE_TOLD ? `; and ${events.length - SLIDE_TOLD} more at the same value` : "";
  return {
    head: `Nearest breakpoint, ${k + 1} of ${state.breaks.length}: as ${sign} grows past ${readableNumber(value, 4)},`,
    text: `${told.join("; ")}${more}.`,
  };
}
