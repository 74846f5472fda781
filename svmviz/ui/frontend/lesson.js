// What the Player shows at a position of a trace: the replayed state, and the four charts that follow it.
// Nothing here is carried from one position to the next: each is computed from the trace alone, so a picture
// is the same, bit for bit, however one came to it.

const BLOCKED_BY_I = 1;
const BLOCKED_BY_J = 2;

/**
 * A recorded run of sequential minimal optimization, and the state of the problem at one position of it.
 *
 * Position k is the state after k steps. `seek(k)` sets: z, gradient, thresholds, coef (one a sample), bias,
 * and `step`: the pair that the next step takes and where it goes (null at the last position).
 */
class Replay {
  /**
   * @param {object} trace meta.trace: dual problem, z0, tol, sentences, names, bias
   * @param {object} table the step columns: an Arrow table, or an object of arrays
   * @param {object} kernel specification for kernelValue
   * @param {number[][]} centres one point a sample
   * @param {number[]} labels class or target of each sample, for the order on the charts
   * @param {boolean} regression
   */
  constructor(trace, table, kernel, centres, labels, regression) {
    Object.assign(this, { trace, centres, labels, regression });
    this.columns = readColumns(table);
    this.length = this.columns.i ? this.columns.i.length : 0;
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

  /** The bound of the multiplier |z| of a dual index (Infinity where there is none). */
  bound(d) {
    return this.sign[d] < 0 ? -this.lo[d] : this.hi[d];
  }

  /** Places of the dual indices on an axis: by class, by x in regression, the two sides of a sample on one place. */
  arrange() {
    const { sample, group } = this.dual;
    const count = this.centres.length;
    const value = (m) => (this.regression ? this.centres[m][0] : this.labels[m]);
    const order = Array.from({ length: count }, (_, m) => m).sort((a, b) => value(a) - value(b) || a - b);
    const place = new Int32Array(count);
    order.forEach((m, rank) => { place[m] = rank; });
    const oneEach = this.size <= count;
    this.twoSided = !oneEach && this.size <= 2 * count && this.sign.some((sign) => sign < 0);
    this.slots = oneEach || this.twoSided ? count : this.size;
    this.slot = Int32Array.from(sample, (m, d) => (this.slots === count ? place[m] : d));
    this.blocks = this.regression || this.slots !== count ? [] : classBlocks(order.map((m) => this.labels[m]));
    this.groups = Math.max(0, ...group) + 1;
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
    this.lowerBound = this.objective.map((value, k) => value - this.gap[k]);
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
      this.z[i[step]] = zi[step];
      this.z[j[step]] = zj[step];
    }
    this.bias = this.trace.bias[this.position];
    this.computeGradient();
    this.step = this.position < this.length ? this.stepAt(this.position) : null;
    this.thresholds = this.computeThresholds();
  }

  /** One step as an object of numbers. */
  stepAt(k) {
    const step = {};
    for (const [name, values] of Object.entries(this.columns)) step[name] = values[k];
    return step;
  }

  /** gradient = H z + p, from the multipliers and the Gram matrix of the samples. */
  computeGradient() {
    const { sample, label, coupling, p, diagonal } = this.dual;
    const count = this.centres.length;
    const sums = coupling.map(() => new Float64Array(count));
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

  mayRise(d) {
    return this.z[d] < this.hi[d];
  }

  mayFall(d) {
    return this.z[d] > this.lo[d];
  }

  /** The two thresholds of the group that the step works in (at the end: of the group that is violated most). */
  computeThresholds() {
    if (this.step) return this.groupThresholds(this.step.group);
    const all = Array.from({ length: this.groups }, (_, g) => this.groupThresholds(g));
    return all.reduce((worst, one) => (one.violation > worst.violation ? one : worst));
  }

  groupThresholds(group) {
    let [lowestRise, highestFall] = [Infinity, -Infinity];
    for (let d = 0; d < this.size; d += 1) {
      if (this.dual.group[d] !== group) continue;
      if (this.mayRise(d)) lowestRise = Math.min(lowestRise, this.gradient[d]);
      if (this.mayFall(d)) highestFall = Math.max(highestFall, this.gradient[d]);
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

  name(d) {
    return this.trace.names?.[d] ?? String(this.dual.sample[d] + 1);
  }

  /** The sign the multiplier of a dual index goes by: α, or α* on the lower side of a regressor. */
  letter(d) {
    return this.twoSided && this.sign[d] < 0 ? "α*" : "α";
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

/** Which bound cut a step short, in a few words; empty where none did. */
function stoppedBy(replay, step) {
  const end = (z) => (z === 0 ? "0" : "C");
  const [i, j] = [replay.name(step.i), replay.name(step.j)];
  const [endI, endJ] = [end(step.z_i_after), end(step.z_j_after)];
  if (step.blocked === BLOCKED_BY_I) return `${i} reaches ${endI}`;
  if (step.blocked === BLOCKED_BY_J) return `${j} reaches ${endJ}`;
  if (!step.blocked) return "";
  return endI === endJ ? `${i} and ${j} reach ${endI}` : `${i} reaches ${endI}, ${j} ${endJ}`;
}

/** Base of the four charts: holds the replay and what is under the pointer on any of them. */
class LessonChart extends ChartCanvas {
  constructor(host, options) {
    super(host, options);
    this.replay = null;
    this.hovered = null;
  }

  paint(ctx, style, width, height) {
    if (this.replay) this.paintState(ctx, style, width, height);
  }
}

/** The subproblem of the pair: the box, the line of constant sum, and the parabola along it. */
class PairChart extends LessonChart {
  constructor(host, options = {}) {
    super(host, {
      title: "The pair's own problem",
      help: "Left: the box of the two multipliers and the line on which their sum is kept. Right: the objective along it.",
      ...options,
    });
  }

  paintState(ctx, style, width, height) {
    const { step } = this.replay;
    if (!step) return this.paintEnd(ctx, style, width, height);
    const lines = this.numbers(step);
    const text = height - 17 * lines.length;
    const side = Math.max(60, Math.min(width * 0.5 - 30, text - 22 - 40));
    const box = { left: 28, top: 22, right: 28 + side, bottom: 22 + side };
    this.paintBox(ctx, style, step, box);
    this.paintParabola(ctx, style, step, { ...box, left: box.right + 18, right: width - 8 });
    lines.forEach(({ mark, text: line }, row) => this.paintNumber(ctx, style, mark, line, text + 12 + 17 * row, width));
  }

  /** A line of numbers, with the mark that stands for it in the pictures. */
  paintNumber(ctx, style, mark, line, y, width) {
    const colour = mark === "disc" ? style.accent : style.text;
    if (mark) drawDot(ctx, style, 9, y - 4, { colour, radius: mark === "cross" ? 3.5 : 4.5, kind: mark });
    ctx.font = mark === "disc" ? style.bold : style.font;
    ctx.fillStyle = style.text;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillText(line, 20, y, width - 24);
  }

  paintEnd(ctx, style, width, height) {
    const { status } = this.replay.trace;
    const text = status === "optimal" ? "No pair is left to improve." : `The run ends here: ${status}.`;
    haloText(ctx, style, text, width / 2, height / 2, { align: "center", colour: style.muted });
  }

  /** The numbers to check by hand. */
  numbers(step) {
    const slope = step.gradient_j - step.gradient_i;
    const [difference, curvature, move] = [slope, step.curvature, step.step].map((value) => readableNumber(value, 4));
    const minimum = hasMinimum(step)
      ? `minimum at t = ${difference} / ${curvature} = ${readableNumber(step.unclipped, 4)}`
      : "not curved upwards: no minimum on the line";
    return [
      { mark: "ring", text: `now: g differs by ${difference}, curvature ${curvature}` },
      { mark: step.blocked && hasMinimum(step) ? "cross" : null, text: minimum },
      { mark: "disc", text: step.blocked ? `cut to t = ${move}: ${stoppedBy(this.replay, step)}` : `within the box: t = ${move}` },
    ];
  }

  paintBox(ctx, style, step, box) {
    const replay = this.replay;
    const { i, j } = step;
    const top = replay.top;
    const air = 0.16 * top;
    const axes = new Axes(box, new LinearScale(-air, top + air, box.left, box.right), new LinearScale(-air, top + air, box.bottom, box.top));
    const name = (d) => `${replay.letter(d)} of ${replay.name(d)}`;
    const boundTicks = (d) => [[0, "0"], [top, replay.bound(d) === top ? "C" : readableNumber(top, 2)]];
    axes.draw(ctx, style, { xName: "", yName: `${name(j)}`, xTicks: boundTicks(i), yTicks: boundTicks(j), grid: false });
    ctx.fillStyle = style.muted;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    ctx.font = style.font;
    ctx.fillText(name(i), (axes.x.at(0) + axes.x.at(top)) / 2, box.bottom + 20);
    axes.clipped(ctx, () => this.paintBoxInside(ctx, style, step, axes));
  }

  paintBoxInside(ctx, style, step, axes) {
    const replay = this.replay;
    const { i, j } = step;
    const edge = (d) => Math.min(replay.bound(d), 4 * replay.top);
    const [x0, y0] = [axes.x.at(0), axes.y.at(0)];
    const [x1, y1] = [axes.x.at(edge(i)), axes.y.at(edge(j))];
    ctx.fillStyle = style.secondary;
    ctx.fillRect(x0, y1, x1 - x0, y0 - y1);
    ctx.strokeStyle = style.muted;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x0, y1, x1 - x0, y0 - y1);
    const at = (t) => [
      axes.x.at(replay.multiplier(i, step.z_i_before + t)),
      axes.y.at(replay.multiplier(j, step.z_j_before - t)),
    ];
    const [least, most] = feasibleSteps(replay, step);
    const far = 4 * replay.top;
    ctx.strokeStyle = style.faint;
    ctx.lineWidth = 1.5;
    ctx.setLineDash([4, 4]);
    strokeSegment(ctx, ...at(-far), ...at(far));
    ctx.setLineDash([]);
    ctx.strokeStyle = style.text;
    ctx.lineWidth = 2.5;
    strokeSegment(ctx, ...at(Math.max(least, -far)), ...at(Math.min(most, far)));
    if (step.blocked) drawDot(ctx, style, ...at(step.unclipped), { colour: style.text, kind: "cross" });
    drawArrow(ctx, ...at(0), ...at(step.step), { colour: style.accent, width: 3, head: 9 });
    drawDot(ctx, style, ...at(0), { colour: style.text, radius: 4.5, kind: "ring" });
    drawDot(ctx, style, ...at(step.step), { colour: style.accent, radius: 4.5 });
  }

  paintParabola(ctx, style, step, box) {
    const replay = this.replay;
    const slope = step.gradient_j - step.gradient_i;
    const change = (t) => -slope * t + 0.5 * step.curvature * t * t;
    const goal = Math.min(step.unclipped, 3 * step.step) || 1;
    const [from, to] = [-0.3 * goal, 1.3 * goal];
    const lowest = Math.min(change(goal), change(step.step), 0);
    const highest = Math.max(change(from), -0.25 * lowest);
    const y = new LinearScale(lowest - 0.14 * (highest - lowest), highest, box.bottom, box.top);
    const axes = new Axes(box, new LinearScale(from, to, box.left, box.right), y);
    const [least, most] = feasibleSteps(replay, step);
    const stops = [Math.max(axes.x.at(least), box.left), Math.min(axes.x.at(most), box.right)];
    ctx.fillStyle = style.secondary;
    ctx.fillRect(stops[0], box.top, stops[1] - stops[0], box.bottom - box.top);
    axes.draw(ctx, style, { xTicks: [[0, "0"], [step.step, readableNumber(step.step, 3)]], yTicks: [], grid: false });
    ctx.textAlign = "right";
    ctx.textBaseline = "top";
    ctx.fillText("step t", box.right, box.bottom + 20);
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    const roomy = box.right - box.left > 140;
    ctx.fillText(roomy ? "objective along the line" : "objective", box.left, box.top - 6, box.right - box.left);
    axes.clipped(ctx, () => this.paintCurve(ctx, style, step, axes, change, stops), 5);
    if (step.unclipped > to && hasMinimum(step)) {
      haloText(ctx, style, "minimum →", box.right - 2, box.top + 12, { align: "right", colour: style.muted });
    }
  }

  paintCurve(ctx, style, step, axes, change, stops) {
    const { left, right, top, bottom } = axes.box;
    ctx.lineWidth = 2;
    ctx.strokeStyle = style.text;
    for (const [from, to, dash] of [[left, stops[0], [3, 3]], [stops[0], stops[1], []], [stops[1], right, [3, 3]]]) {
      ctx.setLineDash(dash);
      ctx.beginPath();
      for (let x = from; x <= to; x += 1) ctx.lineTo(x, axes.y.at(change(axes.x.invert(x))));
      ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.strokeStyle = style.faint;
    ctx.lineWidth = 1;
    strokeSegment(ctx, left, axes.y.at(0), right, axes.y.at(0));
    const at = (t) => [axes.x.at(t), axes.y.at(change(t))];
    ctx.setLineDash([2, 3]);
    ctx.strokeStyle = style.accent;
    ctx.lineWidth = 1.5;
    strokeSegment(ctx, at(step.step)[0], top, at(step.step)[0], bottom);
    ctx.setLineDash([]);
    if (step.blocked && step.unclipped <= axes.x.to) drawDot(ctx, style, ...at(step.unclipped), { kind: "cross" });
    drawDot(ctx, style, ...at(0), { colour: style.text, radius: 4.5, kind: "ring" });
    drawDot(ctx, style, ...at(step.step), { colour: style.accent, radius: 4.5 });
  }
}

/** Whether the objective has a minimum along the line; the solver takes a tiny curvature where there is none. */
function hasMinimum(step) {
  return 2 * step.curvature * step.unclipped > step.gradient_j - step.gradient_i;
}

/** How far the pair may move, backwards and forwards, inside its box. */
function feasibleSteps(replay, step) {
  const { i, j, z_i_before: zi, z_j_before: zj } = step;
  return [
    -Math.min(zi - replay.lo[i], replay.hi[j] - zj),
    Math.min(replay.hi[i] - zi, zj - replay.lo[j]),
  ];
}

/** Draws the marks of the classes under an axis whose places are sorted by class. */
function paintClassBlocks(ctx, style, replay, x, y) {
  for (const { label, from, to } of replay.blocks) {
    const [start, end] = [Math.max(x.at(from - 0.5), x.pixelFrom), Math.min(x.at(to + 0.5), x.pixelTo)];
    if (end - start < 6) continue;
    const colour = classColour(label, style.dark);
    ctx.fillStyle = colour;
    ctx.fillRect(start + 1, y, end - start - 2, 3);
    drawMark(ctx, classStyle(label).shape, (start + end) / 2, y + 10, 4.5, colour, style.background, 1);
  }
}

/** What is shared by the charts that have one place a sample on x. */
class SampleChart extends LessonChart {
  axesFor(width, height, y, top = 22) {
    const box = { left: 44, top, right: width - 8, bottom: height - 34 };
    this.plotBox = box;
    this.axes = new Axes(box, this.zoomedScale(this.replay.slots, box.left, box.right), y(box));
    return this.axes;
  }

  drawFrame(ctx, style, axes, yName) {
    const replay = this.replay;
    axes.draw(ctx, style, { xTicks: [], yName, yTicks: 5 });
    paintClassBlocks(ctx, style, replay, axes.x, axes.box.bottom + 4);
    ctx.font = style.font;
    ctx.fillStyle = style.muted;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    const order = this.replay.regression ? "samples, from left to right" : "samples, by class";
    ctx.fillText(order, axes.box.left, axes.box.bottom + 30);
    if (!this.zoom.whole) {
      ctx.textAlign = "right";
      ctx.fillText("double-click: all", axes.box.right, axes.box.bottom + 30);
    }
  }

  /** Whether a place on x is in view. */
  shows(x) {
    return x >= this.axes.box.left - 1 && x <= this.axes.box.right + 1;
  }

  /** The dual index whose mark is nearest to the pointer, within 24 pixels. */
  nearest(x, y) {
    if (!this.replay || !this.axes) return null;
    let [best, distance] = [null, 24];
    for (let d = 0; d < this.replay.size; d += 1) {
      const [px, py] = this.markAt(d);
      if (!this.shows(px)) continue;
      const away = Math.hypot(px - x, (py - y) * this.pickHeight);
      if (away < distance) [best, distance] = [d, away];
    }
    return best;
  }

  pick(x, y) {
    const d = this.nearest(x, y);
    if (d === null) return null;
    const [px, py] = this.markAt(d);
    return { x: px, y: py, lines: this.describe(d), sample: this.replay.dual.sample[d] };
  }

  describe(d) {
    const replay = this.replay;
    const [rise, fall] = [replay.mayRise(d), replay.mayFall(d)];
    const where = rise && fall ? "free: z may go up and down" : rise ? "z may only go up" : "z may only go down";
    return [
      `${replay.name(d)}: ${replay.letter(d)} = ${readableNumber(replay.multiplier(d), 5)}`,
      `g = ${readableNumber(replay.gradient[d], 5)}`,
      where,
    ];
  }
}

/** Each sample's gradient against the two thresholds: optimal when the highest ▼ is not above the lowest ▲. */
class ViolationChart extends SampleChart {
  constructor(host, options = {}) {
    super(host, {
      title: "Violations",
      help: "Gradient of each sample, with z = α or −α by class (in regression by side). Where some z that may go down (▼) has a higher gradient than one that may go up (▲), that pair improves the objective.",
      ...options,
    });
    this.pickHeight = 1;
    this.closeUp = false;
    this.addToggle("close-up", "Follow the two thresholds", (pressed) => {
      this.closeUp = pressed;
      this.draw();
    });
  }

  range() {
    const { lowestRise, highestFall, violation } = this.replay.thresholds;
    if (!this.closeUp || !Number.isFinite(violation)) return this.replay.gradientRange;
    const half = 1.4 * Math.max(Math.abs(violation), this.replay.trace.tol || 1e-3);
    const middle = (lowestRise + highestFall) / 2;
    return [middle - half, middle + half];
  }

  paintState(ctx, style, width, height) {
    const [low, high] = this.range();
    const axes = this.axesFor(width, height, (box) => new LinearScale(low, high, box.bottom, box.top), 40);
    this.drawFrame(ctx, style, axes, "");
    this.paintHead(ctx, style, width);
    axes.clipped(ctx, () => this.paintInside(ctx, style, axes), 6);
    this.paintThresholds(ctx, style, axes);
    this.paintPair(ctx, style);
  }

  /** What the marks mean, and the violation as the difference of the two thresholds. */
  paintHead(ctx, style, width) {
    const { lowestRise, highestFall, violation } = this.replay.thresholds;
    const lowest = lowestRise < 0 ? `(${readableNumber(lowestRise, 3)})` : readableNumber(lowestRise, 3);
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "left";
    ctx.fillStyle = style.muted;
    ctx.fillText("g:  ▲ z = ±α may go up   ▼ down   ◆ both", 4, 12, width - 8);
    ctx.fillStyle = style.text;
    ctx.font = style.bold;
    ctx.fillText(`violation ▼ ${readableNumber(highestFall, 3)} − ▲ ${lowest} = ${readableNumber(violation, 3)}`, 4, 29, width - 8);
  }

  markAt(d) {
    const { x, y, box } = this.axes;
    const inside = Math.min(Math.max(y.at(this.replay.gradient[d]), box.top), box.bottom);
    return [x.at(this.replay.slot[d]), inside];
  }

  paintInside(ctx, style, axes) {
    const replay = this.replay;
    const { lowestRise, highestFall, violation, group } = replay.thresholds;
    if (violation > 0) {
      const [y0, y1] = [axes.y.at(highestFall), axes.y.at(lowestRise)];
      ctx.fillStyle = style.tint;
      ctx.fillRect(axes.box.left, y0, axes.box.right - axes.box.left, y1 - y0);
    }
    const radius = replay.slots > 120 ? 3.2 : 4.2;
    for (let d = 0; d < replay.size; d += 1) {
      const [x, y] = this.markAt(d);
      if (!this.shows(x)) continue;
      const [rise, fall] = [replay.mayRise(d), replay.mayFall(d)];
      const violates = (rise && replay.gradient[d] < highestFall) || (fall && replay.gradient[d] > lowestRise);
      ctx.fillStyle = replay.dual.group[d] === group && violates ? style.text : style.faint;
      paintDirection(ctx, x, y, radius, rise, fall);
    }
    if (this.hovered !== null) this.paintHovered(ctx, style, radius);
  }

  paintHovered(ctx, style, radius) {
    ctx.strokeStyle = style.text;
    ctx.lineWidth = 1.5;
    for (let d = 0; d < this.replay.size; d += 1) {
      if (this.replay.dual.sample[d] !== this.hovered || !this.shows(this.markAt(d)[0])) continue;
      ctx.beginPath();
      ctx.arc(...this.markAt(d), radius + 4, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }

  /** The two thresholds, each named on the side where the pair is not. */
  paintThresholds(ctx, style, axes) {
    const { step, slot, thresholds } = this.replay;
    const { left, right, top, bottom } = axes.box;
    const lines = [
      { level: thresholds.highestFall, name: "highest ▼", dash: [], member: step?.j },
      { level: thresholds.lowestRise, name: "lowest ▲", dash: [6, 4], member: step?.i },
    ];
    lines.sort((a, b) => b.level - a.level);
    lines.forEach(({ level, name, dash, member }, rank) => {
      const y = Math.min(Math.max(axes.y.at(level), top), bottom);
      ctx.lineWidth = 1.75;
      ctx.strokeStyle = style.text;
      ctx.setLineDash(dash);
      strokeSegment(ctx, left, y, right, y);
      ctx.setLineDash([]);
      const onRight = member !== undefined && axes.x.at(slot[member]) < (left + right) / 2;
      const beside = rank === 0 ? Math.max(y - 9, top + 6) : Math.min(y + 10, bottom - 6);
      haloText(ctx, style, name, onRight ? right - 2 : left + 4, beside, { align: onRight ? "right" : "left" });
    });
  }

  paintPair(ctx, style) {
    const { step } = this.replay;
    if (!step) return;
    for (const [d, rises] of [[step.i, true], [step.j, false]]) paintPairMark(ctx, style, this, d, rises);
  }
}

/** Rings and names the mark of a pair's member, with the way it goes. */
function paintPairMark(ctx, style, chart, d, rises) {
  const [x, y] = chart.markAt(d);
  const { left, right } = chart.axes.box;
  if (!chart.shows(x)) return;
  ctx.fillStyle = style.accent;
  paintDirection(ctx, x, y, 4.5, chart.replay.mayRise(d), chart.replay.mayFall(d));
  ctx.strokeStyle = style.background;
  ctx.lineWidth = 4.5;
  ctx.beginPath();
  ctx.arc(x, y, 8.5, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.strokeStyle = style.accent;
  ctx.lineWidth = 2.5;
  ctx.stroke();
  const { top, bottom } = chart.axes.box;
  const text = `${chart.replay.name(d)} ${rises ? "↑" : "↓"}`;
  // Outwards where there is room: the threshold is named on the other side.
  const onLeft = x > (left + right) / 2 ? x + 58 > right : x - 58 > left;
  const beside = Math.min(Math.max(rises ? y + 11 : y - 11, top + 6), bottom - 6);
  haloText(ctx, style, text, x + (onLeft ? -10 : 10), beside, { align: onLeft ? "right" : "left", font: style.bold });
}

/** ▲ may go up, ▼ may go down, ◆ both, a dash neither. */
function paintDirection(ctx, x, y, radius, rise, fall) {
  ctx.beginPath();
  if (!rise && !fall) ctx.rect(x - radius, y - 1, 2 * radius, 2);
  ctx.moveTo(x - radius, rise && !fall ? y + radius * 0.75 : fall && !rise ? y - radius * 0.75 : y);
  if (rise) ctx.lineTo(x, y - radius * (fall ? 1.25 : 1));
  ctx.lineTo(x + radius, rise && !fall ? y + radius * 0.75 : fall && !rise ? y - radius * 0.75 : y);
  if (fall) ctx.lineTo(x, y + radius * (rise ? 1.25 : 1));
  ctx.fill();
}

/** The multipliers against 0 and the bound; of the pair, before and after. */
class MultiplierChart extends SampleChart {
  constructor(host, options = {}) {
    super(host, { title: "Multipliers", help: "α of every sample between 0 and its bound C; of the pair, from before the step to after it.", ...options });
    this.pickHeight = 0.15;
  }

  value(d, z = this.replay.z[d]) {
    const multiplier = this.replay.multiplier(d, z);
    return this.replay.twoSided && this.replay.sign[d] < 0 ? -multiplier : multiplier;
  }

  markAt(d) {
    return [this.axes.x.at(this.replay.slot[d]), this.axes.y.at(this.value(d))];
  }

  paintState(ctx, style, width, height) {
    const replay = this.replay;
    const top = replay.top * 1.12;
    const bottom = replay.twoSided ? -top : -0.05 * replay.top;
    const axes = this.axesFor(width, height, (box) => new LinearScale(bottom, top, box.bottom, box.top));
    this.drawFrame(ctx, style, axes, replay.twoSided ? "α upwards, α* downwards" : "α");
    this.paintBound(ctx, style, axes);
    axes.clipped(ctx, () => this.paintStems(ctx, style, axes), 8);
    if (replay.step) this.paintMove(ctx, style, axes, replay.step);
  }

  paintBound(ctx, style, axes) {
    const replay = this.replay;
    const { left, right, top } = axes.box;
    const bound = replay.bound(0);
    ctx.strokeStyle = style.muted;
    ctx.lineWidth = 1.25;
    strokeSegment(ctx, left, axes.y.at(0), right, axes.y.at(0));
    if (bound > replay.top) {
      const text = Number.isFinite(bound) ? `↑ bound C = ${readableNumber(bound)}, far above` : "no upper bound";
      haloText(ctx, style, text, right, top - 10, { align: "right", colour: style.muted });
      return;
    }
    ctx.setLineDash([6, 4]);
    strokeSegment(ctx, left, axes.y.at(bound), right, axes.y.at(bound));
    if (replay.twoSided) strokeSegment(ctx, left, axes.y.at(-bound), right, axes.y.at(-bound));
    ctx.setLineDash([]);
    haloText(ctx, style, `bound C = ${readableNumber(bound)}`, right, axes.y.at(bound) - 9, { align: "right", colour: style.muted });
  }

  paintStems(ctx, style, axes) {
    const replay = this.replay;
    const place = Math.abs(axes.x.at(1) - axes.x.at(0));
    const width = Math.min(9, Math.max(1, place * 0.66));
    const zero = axes.y.at(0);
    for (let d = 0; d < replay.size; d += 1) {
      const [x, y] = this.markAt(d);
      if (!this.shows(x)) continue;
      const sample = replay.dual.sample[d];
      ctx.fillStyle = replay.regression ? style.muted : classColour(replay.labels[sample], style.dark);
      if (replay.z[d] === 0) ctx.fillRect(x - width / 2, zero - 1, width, 2);
      else ctx.fillRect(x - width / 2, Math.min(y, zero), width, Math.abs(y - zero));
      if (sample === this.hovered) drawDot(ctx, style, x, y, { radius: 5, kind: "ring" });
    }
  }

  paintMove(ctx, style, axes, step) {
    for (const [d, before, after, other] of [
      [step.i, step.z_i_before, step.z_i_after, step.j],
      [step.j, step.z_j_before, step.z_j_after, step.i],
    ]) {
      const x = axes.x.at(this.replay.slot[d]);
      if (!this.shows(x)) continue;
      const [y0, y1] = [axes.y.at(this.value(d, before)), axes.y.at(this.value(d, after))];
      ctx.strokeStyle = style.background;
      ctx.lineWidth = 7;
      strokeSegment(ctx, x, y0, x, y1);
      drawArrow(ctx, x, y0, x, y1, { colour: style.accent, width: 3.5, head: 9 });
      drawDot(ctx, style, x, y0, { colour: style.text, radius: 4.5, kind: "ring" });
      drawDot(ctx, style, x, y1, { colour: style.accent, radius: 4.5 });
      // The left one is named on its left and the right one on its right, where there is room for that.
      const isLeft = this.replay.slot[d] < this.replay.slot[other];
      const near = isLeft ? x > axes.box.left + 48 : x > axes.box.right - 48;
      const text = `${this.replay.name(d)}`;
      haloText(ctx, style, text, x + (near ? -9 : 9), (y0 + y1) / 2, { align: near ? "right" : "left", font: style.bold });
    }
  }

  describe(d) {
    const { step } = this.replay;
    const lines = super.describe(d);
    const after = step && d === step.i ? step.z_i_after : step && d === step.j ? step.z_j_after : null;
    if (after !== null) lines[0] += ` → ${readableNumber(this.replay.multiplier(d, after), 5)}`;
    return lines;
  }
}

/** Objective and lower bound, and the gap between them on a log scale, over the whole run. Drag to scrub. */
class ProgressChart extends LessonChart {
  constructor(host, { onSeek, onSeekEnd, ...options }) {
    super(host, { title: "Objective and gap", help: "Over the steps; click or drag to go to a step.", zoom: new Zoom(), ...options });
    Object.assign(this, { onSeek, onSeekEnd });
    this.canvas.style.cursor = "ew-resize";
    this.canvas.style.touchAction = "pan-y"; // a finger scrubs sideways and still scrolls the page
    this.dragging = false;
    this.listenToScrub();
  }

  listenToScrub() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.lower) return;
      canvas.setPointerCapture(event.pointerId);
      this.dragging = true;
      this.onSeek(this.positionAt(event.offsetX));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.dragging) this.onSeek(this.positionAt(event.offsetX));
    });
    const end = () => {
      if (this.dragging) this.onSeekEnd();
      this.dragging = false;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
  }

  positionAt(x) {
    return Math.min(Math.max(0, Math.round(this.lower.x.invert(x))), this.replay.length);
  }

  paintState(ctx, style, width, height) {
    const replay = this.replay;
    const [left, right, bottom] = [52, width - 8, height - 34];
    const middle = 20 + (bottom - 20) * 0.5;
    const x = this.zoomedScale(replay.length + 1, left, right);
    const [from, to] = [Math.max(0, Math.floor(x.from)), Math.min(replay.length, Math.ceil(x.to))];
    this.plotBox = { left, right, top: 20, bottom };
    const [low, high] = this.objectiveRange(from, to);
    const upper = new Axes({ left, right, top: 20, bottom: middle - 12 }, x, new LinearScale(low, high, middle - 12, 20));
    const [least, most] = this.gapRange();
    this.lower = new Axes({ left, right, top: middle + 12, bottom }, x, new LogScale(least, most, bottom, middle + 12));
    this.onLayer(ctx, width, height, [from, to, x.from, x.to], (layer) => this.paintCurves(layer, style, upper, from, to));
    this.paintCursor(ctx, style, upper);
  }

  /** Everything but the cursor: it stays the same while the run plays. */
  paintCurves(ctx, style, upper, from, to) {
    const { replay, lower } = this;
    const part = { from: from - 1, to: to + 1 };
    const xName = this.zoom.whole ? "steps taken" : "steps taken (double-click: all)";
    upper.draw(ctx, style, { xTicks: [], yTicks: 3 });
    lower.draw(ctx, style, { xName, yTicks: 4, xTicks: wholeTicks(lower.x, 4) });
    upper.clipped(ctx, () => {
      upper.line(ctx, replay.lowerBound, { colour: style.muted, dash: [5, 3], ...part });
      upper.line(ctx, replay.objective, { colour: style.text, width: 2.25, ...part });
    }, 2);
    lower.clipped(ctx, () => lower.line(ctx, replay.gap, { colour: style.text, width: 2.25, ...part }), 2);
    this.paintNames(ctx, style);
  }

  /** The objective's whole fall, and the bound as far as it lies within one and a half of it. */
  objectiveRange(from, to) {
    const { objective, lowerBound } = this.replay;
    let [low, high, bound] = [Infinity, -Infinity, Infinity];
    for (let k = from; k <= to; k += 1) {
      low = Math.min(low, objective[k]);
      high = Math.max(high, objective[k]);
      bound = Math.min(bound, lowerBound[k]);
    }
    const span = high - low || Math.abs(high) * 0.1 || 1;
    const floor = Math.max(bound, low - 0.8 * span);
    return [Math.min(low, Number.isFinite(floor) ? floor : low) - 0.06 * span, high + 0.08 * span];
  }

  gapRange() {
    const positive = this.replay.gap.filter((gap) => gap > 0 && Number.isFinite(gap));
    if (!positive.length) return [1e-3, 1];
    let [least, most] = [Infinity, 0];
    for (const gap of positive) {
      least = Math.min(least, gap);
      most = Math.max(most, gap);
    }
    least = Math.max(least, most * 1e-12);
    return [10 ** Math.floor(Math.log10(least) - 0.05), 10 ** Math.ceil(Math.log10(most) + 0.05)];
  }

  paintNames(ctx, style) {
    ctx.strokeStyle = style.text;
    ctx.lineWidth = 2.25;
    strokeSegment(ctx, 4, 9, 22, 9);
    ctx.strokeStyle = style.muted;
    ctx.lineWidth = 1.75;
    ctx.setLineDash([5, 3]);
    strokeSegment(ctx, 90, 9, 108, 9);
    ctx.setLineDash([]);
    ctx.fillStyle = style.muted;
    ctx.font = style.font;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillText("objective", 27, 9);
    ctx.fillText("lower bound", 113, 9);
    ctx.fillText("gap (log scale)", this.lower.box.left, this.lower.box.top - 9);
  }

  paintCursor(ctx, style, upper) {
    const { replay, lower } = this;
    const k = replay.position;
    const x = lower.x.at(k);
    const { left, right, bottom } = lower.box;
    const text = `${readableNumber(replay.gap[k], 3)}`;
    haloText(ctx, style, text, right, lower.box.top - 9, { align: "right", font: style.bold });
    haloText(ctx, style, readableNumber(replay.objective[k], 5), right, 9, { align: "right", font: style.bold });
    if (x < left - 1 || x > right + 1) return;
    ctx.strokeStyle = style.accent;
    ctx.lineWidth = 2;
    strokeSegment(ctx, x, upper.box.top, x, upper.box.bottom);
    strokeSegment(ctx, x, lower.box.top, x, bottom);
    upper.clipped(ctx, () => {
      drawDot(ctx, style, x, upper.y.at(replay.lowerBound[k]), { colour: style.muted, radius: 4, kind: "ring" });
      drawDot(ctx, style, x, upper.y.at(replay.objective[k]), { colour: style.accent, radius: 4.5 });
    }, 6);
    lower.clipped(ctx, () => drawDot(ctx, style, x, lower.y.at(replay.gap[k]), { colour: style.accent, radius: 4.5 }), 6);
  }

  pick(x, y) {
    if (!this.replay || !this.lower || this.dragging || y > this.lower.box.bottom + 4) return null;
    const replay = this.replay;
    const k = this.positionAt(x);
    return {
      x: this.lower.x.at(k), y,
      lines: [
        `after ${k} of ${replay.length} steps`,
        `objective ${readableNumber(replay.objective[k], 6)}`,
        `lower bound ${readableNumber(replay.lowerBound[k], 6)}`,
        `gap ${readableNumber(replay.gap[k], 3)}`,
      ],
    };
  }
}

/** Ticks at whole numbers only. */
function wholeTicks(scale, count) {
  return scale.ticks(count).filter(Number.isInteger).map((value) => [value, String(value)]);
}
