// A small chart kit on canvas: scales, axes, and a canvas with a hover read-out that keeps its zoom.
// Everything is drawn from values, at once, into one canvas: the same values give the same pixels.

const CHART_FONT_SIZE = 13;
const CHART_SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A power of ten as a person writes it: 10⁻³. */
function powerOfTen(exponent) {
  return "10" + [...String(exponent)].map((character) => CHART_SUPERSCRIPTS[character]).join("");
}

/** A number for a person: `digits` significant digits, no trailing zeros, a true minus sign. */
function readableNumber(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const short = String(Number(mantissa)).replace("-", "−");
    const power = powerOfTen(Number(exponent));
    return short === "1" ? power : `${short}·${power}`;
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** Round tick values between lo and hi, about `count` of them. */
function roundTicks(lo, hi, count) {
  const span = hi - lo;
  if (!(span > 0) || !Number.isFinite(span)) return [lo];
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * span; k += 1) ticks.push(k * step);
  return ticks.map((tick) => (Math.abs(tick) < step * 1e-9 ? 0 : tick));
}

/** Maps the interval [from, to] of values linearly onto pixels. */
class LinearScale {
  constructor(from, to, pixelFrom, pixelTo) {
    Object.assign(this, { from, to, pixelFrom, pixelTo });
    this.factor = (pixelTo - pixelFrom) / (to - from || 1);
  }

  at(value) {
    return this.pixelFrom + (value - this.from) * this.factor;
  }

  invert(pixel) {
    return this.from + (pixel - this.pixelFrom) / this.factor;
  }

  ticks(count) {
    return roundTicks(Math.min(this.from, this.to), Math.max(this.from, this.to), count);
  }

  label(value) {
    return readableNumber(value, 4);
  }
}

/** Maps a positive interval onto pixels by its logarithm; what is not positive sits on the lower edge. */
class LogScale {
  constructor(from, to, pixelFrom, pixelTo) {
    this.inner = new LinearScale(Math.log10(from), Math.log10(to), pixelFrom, pixelTo);
    this.from = from;
    this.to = to;
  }

  at(value) {
    return this.inner.at(Math.log10(Math.max(value, this.from)));
  }

  invert(pixel) {
    return 10 ** this.inner.invert(pixel);
  }

  ticks(count) {
    const first = Math.ceil(this.inner.from - 1e-9);
    const last = Math.floor(this.inner.to + 1e-9);
    const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
    const ticks = [];
    for (let exponent = first; exponent <= last; exponent += stride) ticks.push(10 ** exponent);
    return ticks;
  }

  label(value) {
    const exponent = Math.round(Math.log10(value));
    return exponent >= -1 && exponent <= 3 ? readableNumber(value) : powerOfTen(exponent);
  }
}

/** What belongs to the present step: a colour that neither a class nor the theme uses. */
const PAIR_COLOUR = { light: "#d0004f", dark: "#ff6a9c" };

/** Colours and font of a chart, from the theme of the page. */
function chartStyle(colours) {
  const accent = colours.dark ? PAIR_COLOUR.dark : PAIR_COLOUR.light;
  return {
    ...colours,
    accent,
    muted: withAlpha(colours.text, 0.72),
    faint: withAlpha(colours.text, 0.28),
    grid: withAlpha(colours.text, 0.12),
    tint: withAlpha(accent, colours.dark ? 0.3 : 0.14),
    font: `${CHART_FONT_SIZE}px ${colours.font || "sans-serif"}`,
    bold: `600 ${CHART_FONT_SIZE}px ${colours.font || "sans-serif"}`,
  };
}

/** A rectangle with a scale on each side. */
class Axes {
  /**
   * @param {{left, top, right, bottom}} box pixels of the plotting area
   * @param {LinearScale|LogScale} x
   * @param {LinearScale|LogScale} y
   */
  constructor(box, x, y) {
    Object.assign(this, { box, x, y });
  }

  /** Grid, ticks and names. `xTicks` and `yTicks` are counts, or lists of [value, label]. */
  draw(ctx, style, { xName = "", yName = "", xTicks = 4, yTicks = 4, grid = true } = {}) {
    const { left, top, right, bottom } = this.box;
    ctx.lineWidth = 1;
    ctx.font = style.font;
    this.drawSide(ctx, style, this.x, xTicks, grid, true);
    this.drawSide(ctx, style, this.y, yTicks, grid, false);
    ctx.strokeStyle = style.faint;
    ctx.beginPath();
    ctx.moveTo(Math.round(left) + 0.5, top);
    ctx.lineTo(Math.round(left) + 0.5, Math.round(bottom) + 0.5);
    ctx.lineTo(right, Math.round(bottom) + 0.5);
    ctx.stroke();
    ctx.fillStyle = style.muted;
    ctx.textAlign = "right";
    ctx.textBaseline = "alphabetic";
    if (xName) ctx.fillText(xName, right, bottom + 29);
    ctx.textAlign = "left";
    if (yName) ctx.fillText(yName, Math.min(left, 4), top - 6);
  }

  drawSide(ctx, style, scale, wanted, grid, horizontal) {
    const { left, top, right, bottom } = this.box;
    const ticks = Array.isArray(wanted) ? wanted : scale.ticks(wanted).map((value) => [value, scale.label(value)]);
    ctx.fillStyle = style.muted;
    ctx.strokeStyle = style.grid;
    ctx.textAlign = horizontal ? "center" : "right";
    ctx.textBaseline = horizontal ? "top" : "middle";
    for (const [value, label] of ticks) {
      const pixel = Math.round(scale.at(value)) + 0.5;
      if (horizontal && (pixel < left - 1 || pixel > right + 1)) continue;
      if (!horizontal && (pixel < top - 1 || pixel > bottom + 1)) continue;
      if (grid) strokeSegment(ctx, ...(horizontal ? [pixel, top, pixel, bottom] : [left, pixel, right, pixel]));
      if (horizontal) ctx.fillText(label, pixel, bottom + 4);
      else ctx.fillText(label, left - 5, pixel);
    }
  }

  /** Runs `paint` with everything outside the plotting area cut off. */
  clipped(ctx, paint, slack = 0) {
    const { left, top, right, bottom } = this.box;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left - slack, top - slack, right - left + 2 * slack, bottom - top + 2 * slack);
    ctx.clip();
    paint();
    ctx.restore();
  }

  /** A line through values[k] at xs[k] (at k without xs); several points in one pixel column become their range. */
  line(ctx, values, { colour, width = 1.75, dash = [], from = 0, to = values.length - 1, xs = null }) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.lineJoin = "round";
    ctx.setLineDash(dash);
    ctx.beginPath();
    let [column, low, high] = [-Infinity, 0, 0];
    for (let k = Math.max(0, from); k <= Math.min(values.length - 1, to); k += 1) {
      if (!Number.isFinite(values[k])) continue;
      const [x, y] = [this.x.at(xs ? xs[k] : k), this.y.at(values[k])];
      const sameColumn = x - column < 0.5;
      if (sameColumn && y >= low && y <= high) continue;
      ctx.lineTo(x, y);
      low = sameColumn ? Math.min(low, y) : y;
      high = sameColumn ? Math.max(high, y) : y;
      if (!sameColumn) column = x;
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }
}

function strokeSegment(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** A straight arrow with a filled head; the head is left out where the arrow is shorter than it. */
function drawArrow(ctx, x0, y0, x1, y1, { colour, width = 2, head = 7 }) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 0.5) return;
  const size = Math.min(head, length);
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = width;
  strokeSegment(ctx, x0, y0, x1 - ux * size * 0.8, y1 - uy * size * 0.8);
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - ux * size - uy * size * 0.55, y1 - uy * size + ux * size * 0.55);
  ctx.lineTo(x1 - ux * size + uy * size * 0.55, y1 - uy * size - ux * size * 0.55);
  ctx.fill();
}

/** Text with an outline in the background's colour, so that it reads on top of marks. */
function haloText(ctx, style, text, x, y, { colour = style.text, align = "left", baseline = "middle", font = style.font } = {}) {
  ctx.font = font;
  ctx.textAlign = align;
  ctx.textBaseline = baseline;
  ctx.lineJoin = "round";
  ctx.lineWidth = 4;
  ctx.strokeStyle = style.background;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colour;
  ctx.fillText(text, x, y);
}

/** A point: a disc, a ring, or a cross, with a halo. */
function drawDot(ctx, style, x, y, { colour = style.text, radius = 4, kind = "disc" } = {}) {
  ctx.lineWidth = 2;
  ctx.strokeStyle = kind === "disc" ? style.background : colour;
  ctx.fillStyle = kind === "disc" ? colour : style.background;
  if (kind === "cross") {
    strokeSegment(ctx, x - radius, y - radius, x + radius, y + radius);
    strokeSegment(ctx, x - radius, y + radius, x + radius, y - radius);
    return;
  }
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
}

/** A part [from, to] of the unit interval that is in view, shared by charts that have the same x axis. */
class Zoom {
  constructor() {
    this.from = 0;
    this.to = 1;
  }

  get whole() {
    return this.from === 0 && this.to === 1;
  }

  reset() {
    this.from = 0;
    this.to = 1;
  }

  /** Makes the view `factor` times as wide, with `centre` (0..1 of the view) staying where it is. */
  scale(factor, centre, least = 0.01) {
    const width = Math.min(1, Math.max(least, (this.to - this.from) * factor));
    this.moveTo(this.from + centre * (this.to - this.from - width), width);
  }

  moveTo(from, width = this.to - this.from) {
    this.from = Math.min(Math.max(0, from), 1 - width);
    this.to = this.from + width;
    if (width >= 1) this.reset();
  }
}

/**
 * A titled canvas that fills its host. A subclass gives `paint(ctx, style, width, height)`, and where wanted
 * `pick(x, y)` (what is under the pointer: {x, y, lines, sample}), `plotBox` and a `zoom`.
 */
class ChartCanvas {
  constructor(host, { title, help = "", zoom = null, onHover = null, onZoom = null }) {
    Object.assign(this, { host, zoom, onHover, onZoom });
    host.classList.add("chart");
    host.innerHTML = `<div class="chart-head"><h4></h4><span class="chart-tools"></span></div>
      <div class="chart-body"><canvas role="img"></canvas><div class="chart-readout" hidden></div></div>`;
    this.heading = host.querySelector("h4");
    this.tools = host.querySelector(".chart-tools");
    this.body = host.querySelector(".chart-body");
    this.canvas = host.querySelector("canvas");
    this.readout = host.querySelector(".chart-readout");
    this.rename({ title, help });
    this.ctx = this.canvas.getContext("2d");
    this.width = 0;
    this.height = 0;
    this.style = null;
    this.plotBox = null;
    this.pointer = null;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.body);
    this.listen();
  }

  /** Adds a small toggle button to the head of the chart. */
  addToggle(label, title, onToggle) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.title = title;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", (event) => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(pressed));
      onToggle(pressed);
      if (event.detail > 0) button.blur();
    });
    this.tools.append(button);
  }

  /** Gives the chart another title, with its help. */
  rename({ title, help }) {
    if (this.heading.textContent === title) return;
    this.heading.textContent = title;
    this.heading.title = help;
    this.canvas.setAttribute("aria-label", `${title}. ${help}`);
  }

  setStyle(style) {
    this.style = style;
  }

  resize() {
    this.width = this.body.clientWidth;
    this.height = this.body.clientHeight;
    this.draw();
  }

  draw() {
    if (!this.style || this.width < 40 || this.height < 40) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ctx.clearRect(0, 0, this.width, this.height);
    this.ctx.save(); // what one picture sets (dashes, fonts) must not reach the next
    this.paint(this.ctx, this.style, this.width, this.height);
    this.ctx.restore();
    if (this.pointer) this.showReadout();
  }

  /** Paints what seldom changes once, onto a layer of its own, and copies the layer until `key` or the chart changes. */
  onLayer(ctx, width, height, key, paint) {
    const ratio = window.devicePixelRatio || 1;
    const state = JSON.stringify([width, height, ratio, key]);
    if (state !== this.layerState || this.layerStyle !== this.style || this.layerOf !== this.replay) {
      this.layer ??= document.createElement("canvas");
      this.layer.width = Math.round(width * ratio);
      this.layer.height = Math.round(height * ratio);
      const onto = this.layer.getContext("2d");
      onto.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(onto);
      [this.layerState, this.layerStyle, this.layerOf] = [state, this.style, this.replay];
    }
    ctx.save();
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(this.layer, 0, 0);
    ctx.restore();
  }

  /** The visible part of 0..count-1 on x, half a place of air on both sides. */
  zoomedScale(count, left, right) {
    const span = Math.max(1, count);
    return new LinearScale(this.zoom.from * span - 0.5, this.zoom.to * span - 0.5, left, right);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerdown", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    if (!this.zoom) return;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("dblclick", () => {
      this.zoom.reset();
      this.zoomed();
    });
  }

  wheel(event) {
    if (!this.plotBox) return;
    event.preventDefault();
    const { left, right } = this.plotBox;
    const centre = Math.min(1, Math.max(0, (event.offsetX - left) / (right - left)));
    this.zoom.scale(Math.exp(event.deltaY * 0.0015), centre);
    this.zoomed();
  }

  zoomed() {
    if (this.onZoom) this.onZoom();
    else this.draw();
  }

  hover(event) {
    this.pointer = { x: event.offsetX, y: event.offsetY };
    this.showReadout();
  }

  leave() {
    this.pointer = null;
    this.readout.hidden = true;
    if (this.onHover) this.onHover(null);
  }

  showReadout() {
    const found = this.pick ? this.pick(this.pointer.x, this.pointer.y) : null;
    this.readout.hidden = !found;
    if (this.onHover) this.onHover(found ? found.sample ?? null : null);
    if (!found) return;
    this.readout.replaceChildren(...found.lines.map((line) => {
      const row = document.createElement("div");
      row.textContent = line;
      return row;
    }));
    const { offsetWidth } = this.readout;
    const left = found.x > this.width / 2 ? found.x - 12 - offsetWidth : found.x + 12;
    this.readout.style.left = `${Math.max(0, Math.min(left, this.width - offsetWidth))}px`;
    this.readout.style.top = `${Math.min(Math.max(2, found.y - 20), Math.max(2, this.height - 20 * found.lines.length))}px`;
  }

  destroy() {
    this.observer.disconnect();
  }
}
