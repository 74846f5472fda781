// The charts beside the Board: each is drawn from the replayed state alone, at every position anew.

const THRESHOLD_NAME = 66; // pixels: room for the name of a threshold, and the air before it

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
    const group = replay.groupName(replay.dual.group[d]);
    return [
      `${replay.name(d)}: ${replay.letter(d)} = ${readableNumber(replay.multiplier(d), 5)}`,
      `g = ${readableNumber(replay.gradient[d], 5)}`,
      group ? `${where}; within ${group}` : where,
    ];
  }
}

/** Each sample's gradient against the two thresholds: optimal when the highest ▼ is not above the lowest ▲. */
class ViolationChart extends SampleChart {
  constructor(host, options = {}) {
    super(host, {
      title: "Violations",
      help: "Gradient of each multiplier. Where one of a group that may go down (▼) has a higher gradient than one of the same group that may go up (▲), that pair improves the objective.",
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
    this.paintMoved(ctx, style);
  }

  /** What the marks mean, and the violation as the difference of the two thresholds. */
  paintHead(ctx, style, width) {
    const { lowestRise, highestFall, violation, group } = this.replay.thresholds;
    const name = this.replay.groupName(group);
    const [highest, lowest] = [highestFall, lowestRise].map((value) => readableNumber(value, 3));
    // A walk goes from optimum to optimum: what differs there is rounding.
    const isOptimal = this.replay.walk && highest === lowest && violation <= this.replay.trace.tol;
    const title = name ? `${name}: ` : isOptimal ? "" : "violation ";
    const result = isOptimal ? `= ▲ ${lowest}: optimal` : `− ▲ ${lowestRise < 0 ? `(${lowest})` : lowest} = ${readableNumber(violation, 3)}`;
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "left";
    ctx.fillStyle = style.muted;
    const { z, plus } = this.replay.words;
    ctx.fillText(`g:  ▲ ${z === plus ? z : `z = ${z}`} may go up   ▼ down   ◆ both`, 4, 12, width - 8);
    ctx.fillStyle = style.text;
    ctx.font = style.bold;
    ctx.fillText(`${title}▼ ${highest} ${result}`, 4, 29, width - 8);
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
      const [left, right] = this.groupEnds(group);
      ctx.fillRect(left, y0, right - left, y1 - y0);
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

  /** From where to where the thresholds of a group are drawn: over its samples, and wide enough to be seen. */
  groupEnds(group) {
    const { x, box } = this.axes;
    if (this.replay.groups === 1) return [box.left, box.right];
    const [from, to] = this.replay.spans[group];
    const [start, end] = [x.at(from - 0.5), x.at(to + 0.5)];
    const short = Math.max(0, 48 - (end - start)) / 2;
    return [start - short, end + short].map((place) => Math.min(Math.max(place, box.left), box.right));
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
    const { pair, slot, thresholds } = this.replay;
    const { top, bottom } = axes.box;
    const [left, right] = this.groupEnds(thresholds.group);
    const narrow = right - left < 150; // no room for a name beside the pair: it goes outside
    const outside = narrow ? this.placeOutside(ctx, style, left, right) : null;
    const lines = [
      { level: thresholds.highestFall, name: "highest ▼", dash: [], member: pair?.j },
      { level: thresholds.lowestRise, name: "lowest ▲", dash: [6, 4], member: pair?.i },
    ];
    lines.sort((a, b) => b.level - a.level);
    lines.forEach(({ level, name, dash, member }, rank) => {
      const y = Math.min(Math.max(axes.y.at(level), top), bottom);
      ctx.lineWidth = 1.75;
      ctx.strokeStyle = style.text;
      ctx.setLineDash(dash);
      strokeSegment(ctx, left, y, right, y);
      ctx.setLineDash([]);
      if (narrow) {
        const beside = y + (rank === 0 ? -5 : 6);
        if (outside) haloText(ctx, style, name, outside.x, Math.min(Math.max(beside, top + 6), bottom - 6), { align: outside.align });
        return;
      }
      const onRight = member !== undefined && axes.x.at(slot[member]) < (left + right) / 2;
      const beside = rank === 0 ? Math.max(y - 9, top + 6) : Math.min(y + 10, bottom - 6);
      haloText(ctx, style, name, onRight ? right - 2 : left + 4, beside, { align: onRight ? "right" : "left" });
    });
  }

  /** Where the thresholds of a narrow group are named: right or left of it, not on the names of the pair; or nowhere. */
  placeOutside(ctx, style, left, right) {
    const { replay, axes } = this;
    const { pair } = replay;
    ctx.font = style.bold;
    const taken = (pair ? [[pair.i, true], [pair.j, false]] : []).map(([d, rises]) => spanOfName(ctx, this, d, rises));
    const places = [
      { x: right + 4, align: "left", from: right + 4, to: right + THRESHOLD_NAME },
      { x: left - 4, align: "right", from: left - THRESHOLD_NAME, to: left - 4 },
    ];
    const isFree = ({ from, to }) => from >= axes.box.left && to <= axes.box.right && taken.every((span) => to < span.from || from > span.to);
    return places.find(isFree) ?? null;
  }

  paintMoved(ctx, style) {
    const { pair, jump } = this.replay;
    if (jump) paintFreeMarks(ctx, style, this, jump);
    if (!pair) return;
    for (const [d, rises] of [[pair.i, true], [pair.j, false]]) paintPairMark(ctx, style, this, d, rises);
  }
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
    super(host, { title: "Multipliers", help: "The multiplier of every sample between 0 and its bound; of those that move, from before the step to after it.", ...options });
    this.pickHeight = 0.15;
  }

  value(d, z = this.replay.z[d]) {
    return this.replay.upwards(d) * z || 0;
  }

  markAt(d) {
    return [this.axes.x.at(this.replay.slot[d]), this.axes.y.at(this.value(d))];
  }

  paintState(ctx, style, width, height) {
    const replay = this.replay;
    const top = replay.top * 1.12;
    const bottom = replay.twoSided ? -top : -0.05 * replay.top;
    const axes = this.axesFor(width, height, (box) => new LinearScale(bottom, top, box.bottom, box.top));
    this.drawFrame(ctx, style, axes, replay.twoSided ? `${replay.words.plus} upwards, ${replay.words.minus} downwards` : replay.words.plus);
    this.paintBound(ctx, style, axes);
    axes.clipped(ctx, () => this.paintStems(ctx, style, axes), 8);
    if (replay.pair) this.paintMove(ctx, style, axes, replay.pair);
    const moves = replay.jump ?? replay.event?.moves;
    if (moves) axes.clipped(ctx, () => paintJumpStems(ctx, style, this, moves), 12);
  }

  paintBound(ctx, style, axes) {
    const replay = this.replay;
    const { left, right, top } = axes.box;
    const bound = replay.ceiling;
    ctx.strokeStyle = style.muted;
    ctx.lineWidth = 1.25;
    strokeSegment(ctx, left, axes.y.at(0), right, axes.y.at(0));
    if (bound > replay.top) {
      const text = Number.isFinite(bound) ? `↑ ${this.boundText(bound)}, far above` : "no upper bound";
      haloText(ctx, style, text, right, top - 10, { align: "right", colour: style.muted });
      return;
    }
    ctx.setLineDash([6, 4]);
    strokeSegment(ctx, left, axes.y.at(bound), right, axes.y.at(bound));
    if (replay.twoSided) strokeSegment(ctx, left, axes.y.at(-bound), right, axes.y.at(-bound));
    ctx.setLineDash([]);
    haloText(ctx, style, this.boundText(bound), right, axes.y.at(bound) - 9, { align: "right", colour: style.muted });
  }

  boundText(bound) {
    const { bound: name } = this.replay.words;
    return name === "1" ? "bound 1" : `bound ${name} = ${readableNumber(bound)}`;
  }

  paintStems(ctx, style, axes) {
    const replay = this.replay;
    const place = Math.abs(axes.x.at(1) - axes.x.at(0));
    const width = Math.min(9, Math.max(1, (place * 0.66) / replay.perSample));
    const zero = axes.y.at(0);
    for (let d = 0; d < replay.size; d += 1) {
      const [x, y] = this.markAt(d);
      if (!this.shows(x)) continue;
      const sample = replay.dual.sample[d];
      ctx.fillStyle = replay.regression ? style.muted : classColour(replay.classOf(d), style.dark);
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
    const lines = super.describe(d);
    const after = this.after(d);
    if (after !== undefined) lines[0] += ` → ${readableNumber(this.replay.multiplier(d, after), 5)}`;
    return lines;
  }

  /** Where the next step takes a signed multiplier; undefined where it does not move it. */
  after(d) {
    const { pair, jump, event } = this.replay;
    const moves = jump ?? event?.moves;
    if (moves) return moves.after[moves.indices.indexOf(d)];
    if (d === pair?.i) return pair.z_i_after;
    return d === pair?.j ? pair.z_j_after : undefined;
  }
}

/** Objective and lower bound, and the gap between them on a log scale, over the whole run. Drag to scrub. */
class ProgressChart extends LessonChart {
  constructor(host, { onSeek, onSeekEnd, ...options }) {
    super(host, { title: "Objective and gap", help: "Over the steps, ◆ after a Newton step; click or drag to go to a step.", zoom: new Zoom(), ...options });
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
      this.paintJumps(ctx, style, upper, replay.objective);
    }, 4);
    lower.clipped(ctx, () => {
      lower.line(ctx, replay.gap, { colour: style.text, width: 2.25, ...part });
      this.paintJumps(ctx, style, lower, replay.gap);
    }, 4);
    this.paintNames(ctx, style);
  }

  /** A mark on a curve after each Newton step. */
  paintJumps(ctx, style, axes, values) {
    for (const k of this.replay.jumps.keys()) {
      if (!Number.isFinite(values[k + 1])) continue;
      drawMark(ctx, "diamond", axes.x.at(k + 1), axes.y.at(values[k + 1]), 3.6, style.text, style.background, 1);
    }
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
    const { left, top, bottom } = this.lower.box;
    ctx.fillText("gap (log scale)", left, top - 9);
    if (!this.replay.jumps.size || !this.zoom.whole) return;
    drawMark(ctx, "diamond", left + 4, bottom + 25, 3.6, style.text);
    ctx.fillText("Newton step", left + 13, bottom + 25);
  }

  paintCursor(ctx, style, upper) {
    const { replay, lower } = this;
    const k = replay.position;
    const x = lower.x.at(k);
    const { left, right, bottom } = lower.box;
    const text = replay.gapText(k, 3);
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
        `after ${k} of ${replay.length} steps${replay.jumps.has(k - 1) ? ", a Newton step" : ""}`,
        `objective ${readableNumber(replay.objective[k], 6)}`,
        `lower bound ${Number.isFinite(replay.lowerBound[k]) ? readableNumber(replay.lowerBound[k], 6) : "unknown"}`,
        `gap ${replay.gapText(k, 3)}`,
      ],
    };
  }
}

/** Ticks at whole numbers only. */
function wholeTicks(scale, count) {
  return scale.ticks(count).filter(Number.isInteger).map((value) => [value, String(value)]);
}
