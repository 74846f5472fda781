// The charts of a path: every multiplier, and below it errors, support vectors or widths, against the parameter.

const CHART_STRIDE = 2; // pixels between two values of a line of the chart

const CHART_SIDES = { left: 44, right: 12 }; // pixels beside the picture, the same in both charts
const [LEAST_ERROR, MOST_ERROR] = [5, 50]; // per cent: the axis ends between, unless the training error is beyond
const OFF_SCALE = "off the scale";
const FLAG = { pole: 22, width: 10, height: 10 }; // pixels
const SURVEY_DASH = [7, 4]; // of the second line of a chart

/** A chart against the parameter of a path, with a cursor that can be dragged. */
class AlongChart extends ChartCanvas {
  /**
   * @param {HTMLElement} host
   * @param {{title: string, help: string, onChoose: (value: number) => void, onDone: () => void}} options
   */
  constructor(host, { title, help, onChoose, onDone }) {
    super(host, { title, help: `${help} Drag to move the parameter.` });
    this.replay = null; // the state; what the layer of lines is of
    const place = (event) => this.replay && this.axes && onChoose(this.valueUnder(event.offsetX));
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      place(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && place(event));
    this.canvas.addEventListener("pointerup", onDone);
  }

  set(state) {
    this.replay = state;
    this.draw();
  }

  valueUnder(pixel) {
    const { left, right } = this.axes.box;
    return this.replay.valueAt((pixel - left) / (right - left));
  }

  /** Axes over the path, as wide in every chart; so many pixels are left above and below. */
  axesOf(width, height, { top, foot }, y) {
    const { left, right } = CHART_SIDES;
    const box = { left, top, right: width - right, bottom: height - foot };
    const { start, stop, logarithmic } = this.replay.path;
    const x = new (logarithmic ? LogScale : LinearScale)(start, stop, box.left, box.right);
    return new Axes(box, x, new LinearScale(...y, box.bottom, box.top));
  }

  /** The nearest breakpoint and the value. */
  paintCursor(ctx, style) {
    const { axes, replay: state } = this;
    const { top, bottom } = axes.box;
    const near = state.breaks[state.nearestBreak()];
    if (near) {
      ctx.strokeStyle = style.muted;
      ctx.lineWidth = 1;
      ctx.setLineDash([3, 3]);
      strokeSegment(ctx, axes.x.at(near.value), top, axes.x.at(near.value), bottom);
      ctx.setLineDash([]);
    }
    const x = axes.x.at(state.value);
    ctx.strokeStyle = style.accent;
    ctx.lineWidth = 2;
    strokeSegment(ctx, x, top - 4, x, bottom);
    return [x, near];
  }
}

/** Every multiplier, as a share of its bound. */
class PathChart extends AlongChart {
  constructor(host, options) {
    super(host, { title: "Multipliers", help: "", ...options });
  }

  paint(ctx, style, width, height) {
    const state = this.replay;
    if (!state) return;
    const over = state.path.bound === null && !state.path.curved ? "" : `/${machineWords(state).bound}`;
    const what = state.twoSided ? `α${over} up, α*${over} down` : `α${over}`;
    const axis = `${SLIDE_SIGNS[state.path.parameter]} on a ${state.path.logarithmic ? "logarithmic" : "linear"} axis`;
    this.rename({ title: `Multipliers ${what}; ${axis}`, help: "The multiplier of every sample against the parameter. Drag to move the parameter." });
    // The chart below has the numbers of the axis.
    this.axes = this.axesOf(width, height, { top: 8, foot: 8 }, [state.twoSided ? -1.06 : -0.03, 1.06]);
    this.onLayer(ctx, width, height, [], (onto) => this.#paintLines(onto, style));
    this.#paintCursor(ctx, style);
  }

  #paintLines(ctx, style) {
    const { axes, replay: state } = this;
    const name = state.path.bound === null ? readableNumber(state.path.curved ? state.steepest : state.boundAt(0), 3) : "1";
    const yTicks = [[0, "0"], [1, name], ...(state.twoSided ? [[-1, name]] : [])];
    axes.draw(ctx, style, { xTicks: axes.x.ticks(4).map((value) => [value, ""]), yTicks });
    const { places, shares } = this.#lines();
    const faint = state.size > 60 ? 0.5 : 0.8;
    axes.clipped(ctx, () => shares.forEach((values, d) => {
      if (!values) return;
      const colour = state.regression ? style.text : classColour(state.labels[state.dual.sample[d]], style.dark);
      axes.line(ctx, values, { colour: withAlpha(colour, faint), width: 1.5, xs: places });
    }), 2);
  }

  /** The values of the parameter at which lines are drawn, and the shares of each dual index there (null: never above 0). */
  #lines() {
    const { axes, replay: state } = this;
    const count = Math.ceil((axes.box.right - axes.box.left) / CHART_STRIDE);
    const even = Array.from({ length: count + 1 }, (_, k) => state.valueAt(k / count));
    const places = (state.knots.length < 2 * count ? [...even, ...state.knots] : even).sort((a, b) => a - b);
    const shares = Array.from({ length: state.size }, () => new Float64Array(places.length));
    places.forEach((value, at) => {
      const [k, share] = state.stretchAt(value);
      const bound = state.boundAt(value);
      for (let d = 0; d < state.size; d += 1) shares[d][at] = this.#shown(d, between(state.table, state.size, k, share, d)) / bound;
    });
    return { places, shares: shares.map((values) => (values.some((value) => value !== 0) ? values : null)) };
  }

  /** Up or down: the two sides of a sample of a regressor, otherwise its size. */
  #shown(d, z) {
    return this.replay.twoSided ? z : Math.abs(z);
  }

  #shareOf(d) {
    return this.#shown(d, this.replay.z[d]) / this.replay.boundAt(this.replay.value);
  }

  #paintCursor(ctx, style) {
    const { axes, replay: state } = this;
    const [x, near] = this.paintCursor(ctx, style);
    const moving = new Set((near?.events ?? []).map(([sample]) => sample));
    for (let d = 0; d < state.size; d += 1) {
      if (!moving.has(state.dual.sample[d])) continue;
      drawDot(ctx, style, x, axes.y.at(this.#shareOf(d)), { radius: 5, colour: style.accent });
    }
  }

  /** The line at the cursor that is nearest to the pointer. */
  pick(x, y) {
    const { axes, replay: state } = this;
    if (!state || !axes) return null;
    const at = axes.x.at(state.value);
    if (Math.abs(x - at) > 14) return null;
    let [best, least] = [null, 12];
    for (let d = 0; d < state.size; d += 1) {
      if (state.z[d] === 0) continue;
      const away = Math.abs(axes.y.at(this.#shareOf(d)) - y);
      if (away < least) [best, least] = [d, away];
    }
    if (best === null) return null;
    const name = sampleName(state, state.dual.sample[best]);
    return { x: at, y, lines: [`${name}: ${readableNumber(Math.abs(state.z[best]), 4)}`] };
  }
}

/** What the second chart can show: its lines over the path, the first solid, the second dashed with rings. */
const SURVEYS = {
  errors: {
    name: "Errors",
    help: "Training error and leave-one-out error.",
    unit: (state) => (state.regression ? "rms" : "% of samples"),
    lines: (state) => [
      { name: "training", ...state.surveyed("error"), now: state.error(), stepped: !state.regression },
      { name: state.leftOut?.known.length ? `leave-one-out, at ${countOf(state.leftOut.known.length, "value")}` : "", ...state.unseen(), rings: true },
    ],
  },
  support: {
    name: "Support vectors",
    help: "How many samples have a multiplier that is not 0, and how many of these are at the bound.",
    unit: () => "samples",
    lines: (state) => [
      { name: "all", ...state.counted(0), now: state.counts()[0], stepped: true },
      { name: "at the bound", ...state.counted(1), now: state.counts()[1], stepped: true },
    ],
  },
  width: {
    help: "How wide margin or tube are, or how far the hulls are apart.",
    unit: () => "",
    lines: (state) => [{ name: state.widthName(), ...state.surveyed("width"), now: state.width() }],
  },
};

/** One survey of a path: errors, support vectors or width. */
class SurveyChart extends AlongChart {
  constructor(host, options) {
    super(host, { title: SURVEYS.errors.name, help: SURVEYS.errors.help, ...options });
    this.kind = "errors";
    this.heading.hidden = true;
    this.buttons = Object.fromEntries(Object.keys(SURVEYS).map((kind) => [kind, this.#button(kind)]));
  }

  #button(kind) {
    const button = element("button", "", SURVEYS[kind].name ?? "");
    button.type = "button";
    button.title = SURVEYS[kind].help;
    button.addEventListener("click", (event) => {
      this.show(kind);
      if (event.detail > 0) button.blur();
    });
    this.tools.append(button);
    return button;
  }

  show(kind) {
    this.kind = kind;
    this.draw();
  }

  paint(ctx, style, width, height) {
    const state = this.replay;
    if (!state) return;
    const named = state.widthName();
    this.buttons.width.hidden = !named;
    if (named) setText(this.buttons.width, named.split(" ")[0]);
    if (!named && this.kind === "width") this.kind = "errors";
    const { help, unit, lines: make } = SURVEYS[this.kind];
    for (const [kind, button] of Object.entries(this.buttons)) button.setAttribute("aria-pressed", String(kind === this.kind));
    this.rename({ title: this.buttons[this.kind].textContent, help });
    this.lines = make(state);
    this.axes = this.axesOf(width, height, { top: 22, foot: 22 }, [-0.03, 1.08].map((share) => share * this.#most()));
    const key = [this.kind, ...this.lines.map(({ values }) => values.filter(Number.isFinite).length)];
    this.onLayer(ctx, width, height, key, (onto) => this.#paintLines(onto, style, unit(state)));
    const [x] = this.paintCursor(ctx, style);
    const { axes } = this;
    const [first, second] = this.lines;
    if (Number.isFinite(first.now)) drawDot(ctx, style, x, axes.y.at(first.now), { radius: 5, colour: style.accent });
    if (Number.isFinite(second?.now)) drawDot(ctx, style, x, axes.y.at(second.now), { radius: 4.5, colour: style.accent, kind: "ring" });
    const near = second?.rings ? state.nearestUnseen() : -1;
    if (near >= 0 && axes.y.at(second.values[near]) >= axes.box.top) {
      drawDot(ctx, style, axes.x.at(second.xs[near]), axes.y.at(second.values[near]), { radius: 5, colour: style.accent, kind: "ring" });
    }
  }

  /** Where the axis ends. A leave-one-out error beyond is worse than a coin: that would flatten all the rest. */
  #most() {
    const [first, second] = this.lines.map(({ values }) => Math.max(...[...values].filter(Number.isFinite), 1e-9));
    if (this.kind !== "errors" || this.replay.regression) return Math.max(first, second ?? 0);
    return Math.max(LEAST_ERROR, first, Math.min(MOST_ERROR, second));
  }

  #paintLines(ctx, style, unit) {
    const { axes, replay: state, lines } = this;
    axes.draw(ctx, style, { yName: unit, xTicks: 4, yTicks: 4 });
    ctx.fillText(SLIDE_SIGNS[state.path.parameter], 4, axes.box.bottom + 15);
    lines.forEach((line, k) => {
      const dash = k ? SURVEY_DASH : [];
      axes.clipped(ctx, () => {
        const { xs, values } = line.stepped ? stepsOf(line, state) : line;
        for (const [from, to] of wholeRuns(values)) axes.line(ctx, values, { colour: style.text, width: 2, dash, from, to, xs });
      }, 1);
      if (line.rings) this.#paintRings(ctx, style, line);
    });
    if (this.kind === "errors") this.#paintFaultless(ctx, style);
    if (this.kind === "errors" && state.isSurveyed) this.#paintUndecided(ctx, style);
    let right = axes.box.right;
    for (let k = lines.length - 1; k >= 0; k -= 1) right = this.#paintName(ctx, style, lines[k], k ? SURVEY_DASH : [], right);
  }

  /** A small flag on the axis where the last training error ends. */
  #paintFaultless(ctx, style) {
    const { axes: { x, box }, replay: { path } } = this;
    if (path.faultless === null) return;
    const [at, foot] = [x.at(path.faultless), box.bottom];
    const way = at > box.right - FLAG.width - 2 ? -1 : 1;
    ctx.strokeStyle = style.text;
    ctx.fillStyle = style.text;
    ctx.lineWidth = 1.5;
    strokeSegment(ctx, at, foot, at, foot - FLAG.pole);
    ctx.beginPath();
    ctx.moveTo(at, foot - FLAG.pole);
    ctx.lineTo(at + way * FLAG.width, foot - FLAG.pole + FLAG.height / 2);
    ctx.lineTo(at, foot - FLAG.pole + FLAG.height);
    ctx.fill();
  }

  /** Say why a long piece of the path has no error. */
  #paintUndecided(ctx, style) {
    const { axes, lines: [{ values, xs }] } = this;
    const text = this.replay.path.model.machine === "svc" ? "nothing is decided" : "the hulls meet: nothing is decided";
    ctx.font = style.font;
    for (const [from, to] of wholeRuns(Array.from(values, (value) => (Number.isNaN(value) ? 0 : NaN)))) {
      const [left, right] = [axes.x.at(xs[from]), axes.x.at(xs[to])];
      if (right - left < ctx.measureText(text).width + 8) continue;
      haloText(ctx, style, text, (left + right) / 2, (axes.box.top + axes.box.bottom) / 2, { align: "center", colour: style.muted });
    }
  }

  /** A ring at each value; for one that is beyond the upper edge an arrow that points there, and a word for them all. */
  #paintRings(ctx, style, { xs, values }) {
    const { axes: { x, y, box } } = this;
    let last = null;
    xs.forEach((at, k) => {
      if (!Number.isFinite(values[k])) return;
      if (y.at(values[k]) >= box.top) return drawDot(ctx, style, x.at(at), y.at(values[k]), { radius: 2.5, kind: "ring" });
      ctx.strokeStyle = style.text;
      ctx.lineWidth = 1.5;
      const tip = box.top + 1;
      strokeSegment(ctx, x.at(at), tip, x.at(at), tip + 12);
      for (const way of [-3.5, 3.5]) strokeSegment(ctx, x.at(at), tip, x.at(at) + way, tip + 4);
      last = x.at(at);
    });
    if (last === null) return;
    const left = last > (box.left + box.right) / 2; // there is room on the other side
    ctx.font = style.font;
    const first = left ? x.at(xs[values.findIndex((value) => y.at(value) < box.top)]) : last;
    haloText(ctx, style, OFF_SCALE, first + (left ? -9 : 9), box.top + 8, { align: left ? "right" : "left" });
  }

  /** The name of a line with a piece of it, above the picture, ending at a pixel; returns where it begins. */
  #paintName(ctx, style, { name, rings }, dash, right) {
    if (!name) return right;
    const y = 10;
    ctx.font = style.font;
    const left = right - ctx.measureText(name).width;
    haloText(ctx, style, name, left, y);
    ctx.strokeStyle = style.text;
    ctx.lineWidth = 2;
    ctx.setLineDash(dash);
    strokeSegment(ctx, left - 31, y, left - 6, y);
    ctx.setLineDash([]);
    if (rings) drawDot(ctx, style, left - 18.5, y, { radius: 2.5, kind: "ring" });
    return left - 44;
  }

  /** The numbers under the pointer. */
  pick(x, y) {
    const { axes, replay: state, lines } = this;
    if (!state || !axes || x < axes.box.left || x > axes.box.right) return null;
    const told = [`${SLIDE_SIGNS[state.path.parameter]} = ${readableNumber(this.valueUnder(x), 3)}`];
    for (const { name, values, xs } of lines) {
      const at = nearestTo(xs, (value) => axes.x.at(value), x);
      if (at >= 0 && Number.isFinite(values[at])) told.push(`${name.split(",")[0]}: ${readableNumber(values[at], 3)}`);
    }
    const { faultless } = state.path;
    if (this.kind === "errors" && faultless !== null && Math.abs(axes.x.at(faultless) - x) < 6) told.push(faultlessWords(state));
    return { x, y, lines: told };
  }
}

/** Each value of a line held half way to its neighbours: a count has nothing in between. */
function stepsOf({ xs, values }, state) {
  const places = Array.from(xs, (value) => state.placeOf(value));
  const edge = (k) => (places[Math.max(0, k - 1)] + places[Math.min(places.length - 1, k)]) / 2;
  return {
    xs: places.flatMap((_, k) => [state.valueAt(edge(k)), state.valueAt(edge(k + 1))]),
    values: Array.from(values).flatMap((value) => [value, value]),
  };
}

/** The runs [from, to] of finite values in a list. */
function wholeRuns(values) {
  const runs = [];
  values.forEach((value, k) => {
    if (!Number.isFinite(value)) return;
    if (runs.at(-1)?.[1] === k - 1) runs.at(-1)[1] = k;
    else runs.push([k, k]);
  });
  return runs;
}

/** Where in a list the place of a value is nearest to a pixel or another place; -1 in an empty list. */
function nearestTo(values, placeOf, wanted) {
  let [best, least] = [-1, Infinity];
  values.forEach((value, k) => {
    const away = Math.abs(placeOf(value) - wanted);
    if (away < least) [best, least] = [k, away];
  });
  return best;
}
