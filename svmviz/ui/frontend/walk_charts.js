// The charts of a walk in the Player, in the place of those that are about a pair; and what is marked on the Board.

/** The multiplier of the one that changes sides next, over the whole walk: exact at the events. */
class WalkEventChart extends LessonChart {
  constructor(host, options = {}) {
    super(host, {
      title: "Who changes sides",
      help: "The multiplier of the one that changes sides next, over the whole walk, with its bound as a dashed line.",
      ...options,
    });
  }

  paintState(ctx, style, width, height) {
    const { event } = this.replay;
    if (!event) return this.paintSentence(ctx, style, "The walk ends here.", width, height);
    if (event.d < 0) return this.paintSentence(ctx, style, `Nobody changes sides until ${this.replay.placeText(event.value)}.`, width, height);
    const lines = this.numbers(event);
    const box = { left: 50, top: 22, right: width - 10, bottom: height - 17 * lines.length - 40 };
    if (box.bottom > box.top + 30) this.paintTrack(ctx, style, event, box);
    lines.forEach(({ mark, text }, row) => {
      const y = height - 17 * (lines.length - row) + 12;
      if (mark) drawDot(ctx, style, 9, y - 4, { colour: mark === "disc" ? style.accent : style.text, radius: 4.5, kind: mark });
      ctx.font = mark === "disc" ? style.bold : style.font;
      ctx.fillStyle = style.text;
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      ctx.fillText(text, 20, y, width - 24);
    });
    return undefined;
  }

  paintSentence(ctx, style, text, width, height) {
    haloText(ctx, style, text, width / 2, height / 2, { align: "center", colour: style.muted });
  }

  /** The numbers to check by hand. */
  numbers({ d, value }) {
    const { replay } = this;
    const { sizes } = replay.track(d);
    const [now, then] = [sizes[replay.position], sizes[replay.position + 1]].map((size) => readableNumber(size, 4));
    const nu = replay.nu[replay.dual.group[d]];
    const letter = replay.letter(d);
    return [
      { mark: "ring", text: `now, ${replay.placeText(replay.value)}: ${letter} = ${now}` },
      { mark: "disc", text: `then, ${replay.placeText(value)}: ${letter} = ${then}` },
      { mark: null, text: `now its g = ${readableNumber(replay.gradient[d], 4)}, that of ${replay.words.edge} ${readableNumber(nu, 4)}` },
    ];
  }

  paintTrack(ctx, style, { d }, box) {
    const { replay } = this;
    const { sizes, bounds } = replay.track(d);
    const most = Math.max(...sizes) || 1;
    const x = replay.axis(box.left, box.right);
    const axes = new Axes(box, x, new LinearScale(-0.04 * most, 1.15 * most, box.bottom, box.top));
    const { sign, isPart } = replay.walk;
    axes.draw(ctx, style, { xName: isPart ? `part ${sign}` : sign, yName: `${replay.letter(d)} of ${replay.name(d)}`, yTicks: 3 });
    const line = (ys, options) => {
      const { xs, values } = replay.dense(ys, x, box.left, box.right);
      axes.line(ctx, values, { xs, ...options });
    };
    axes.clipped(ctx, () => {
      if (bounds.every(Number.isFinite)) line(bounds, { colour: style.muted, dash: [5, 3] });
      line(sizes, { colour: style.text, width: 2.25 });
      const at = (k) => [x.at(replay.values[k]), axes.y.at(sizes[k])];
      drawDot(ctx, style, ...at(replay.position), { colour: style.text, radius: 4.5, kind: "ring" });
      drawDot(ctx, style, ...at(replay.position + 1), { colour: style.accent, radius: 4.5 });
    }, 6);
  }
}

/** Objective, and below it how many are on the margin and at the bound, against the parameter. Drag to scrub. */
class WalkProgressChart extends ProgressChart {
  constructor(host, options) {
    super(host, {
      ...options,
      title: "Objective and sets",
      help: "Against the parameter; click or drag to go to an event.",
      zoom: null,
    });
  }

  positionAt(x) {
    return this.replay.positionNear(this.lower.x, x);
  }

  paintState(ctx, style, width, height) {
    const { replay } = this;
    const [left, right, bottom] = [52, width - 8, height - 34];
    const middle = 20 + (bottom - 20) * 0.5;
    const x = replay.axis(left, right);
    const [low, high] = rangeOf(replay.objective);
    const air = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
    const upper = new Axes({ left, right, top: 20, bottom: middle - 12 }, x, new LinearScale(low - air, high + air, middle - 12, 20));
    const most = Math.max(1, ...replay.counts.margin, ...replay.counts.bound);
    this.lower = new Axes({ left, right, top: middle + 12, bottom }, x, new LinearScale(0, 1.06 * most, bottom, middle + 12));
    this.onLayer(ctx, width, height, [], (layer) => this.paintLines(layer, style, upper));
    this.paintHere(ctx, style, upper);
  }

  paintLines(ctx, style, upper) {
    const { replay, lower } = this;
    const { sign, isPart } = replay.walk;
    upper.draw(ctx, style, { xTicks: [], yTicks: 3 });
    lower.draw(ctx, style, { xName: isPart ? `part ${sign}` : sign, yTicks: wholeTicks(lower.y, 3) });
    const { xs, values } = replay.dense(replay.objective, upper.x, upper.box.left, upper.box.right);
    upper.clipped(ctx, () => upper.line(ctx, values, { colour: style.text, width: 2.25, xs }), 4);
    lower.clipped(ctx, () => {
      this.paintStairs(ctx, style, replay.counts.bound, style.muted, [5, 3]);
      this.paintStairs(ctx, style, replay.counts.margin, style.text, []);
    }, 4);
    ctx.font = style.font;
    ctx.fillStyle = style.muted;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillText("objective", 4, 9);
    const { left, top } = lower.box;
    ctx.fillText(`on ${replay.words.edge} ––, at the bound - -`, left, top - 9);
  }

  /** A count that stays the same from one event to the next. */
  paintStairs(ctx, style, counts, colour, dash) {
    const { x, y } = this.lower;
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    ctx.setLineDash(dash);
    ctx.beginPath();
    this.replay.values.forEach((value, k) => {
      if (k > 0) ctx.lineTo(x.at(value), y.at(counts[k - 1]));
      ctx.lineTo(x.at(value), y.at(counts[k]));
    });
    ctx.stroke();
    ctx.setLineDash([]);
  }

  paintHere(ctx, style, upper) {
    const { replay, lower } = this;
    const k = replay.position;
    const x = lower.x.at(replay.value);
    haloText(ctx, style, readableNumber(replay.objective[k], 5), lower.box.right, 9, { align: "right", font: style.bold });
    ctx.strokeStyle = style.accent;
    ctx.lineWidth = 2;
    strokeSegment(ctx, x, upper.box.top, x, upper.box.bottom);
    strokeSegment(ctx, x, lower.box.top, x, lower.box.bottom);
    upper.clipped(ctx, () => drawDot(ctx, style, x, upper.y.at(replay.objective[k]), { colour: style.accent, radius: 4.5 }), 6);
    lower.clipped(ctx, () => drawDot(ctx, style, x, lower.y.at(replay.counts.margin[k]), { colour: style.accent, radius: 4.5 }), 6);
  }

  pick(x, y) {
    if (!this.replay || !this.lower || this.dragging || y > this.lower.box.bottom + 4) return null;
    const { replay } = this;
    const k = this.positionAt(x);
    return {
      x: this.lower.x.at(replay.values[k]), y,
      lines: [
        `after ${k} of ${replay.length} events`,
        replay.placeText(replay.values[k]),
        `objective ${readableNumber(replay.objective[k], 6)}`,
        `${replay.counts.margin[k]} on ${replay.words.edge}, ${replay.counts.bound[k]} at the bound`,
      ],
    };
  }
}

function rangeOf(values) {
  return [values.reduce((least, value) => Math.min(least, value), Infinity), values.reduce((most, value) => Math.max(most, value), -Infinity)];
}

/** The one that changes sides next, and what is left of the multiplier of those that are learned or unlearned. */
function paintWalkOnBoard(ctx, board, style, replay, place) {
  const radius = board.radius + 5;
  for (const d of replay.held) {
    if (replay.track(d).sizes.some((size) => size > 0)) paintLeaving(ctx, board, place(d), radius + 4, style.accent, replay.name(d), replay.share(d));
  }
  const { event } = replay;
  if (event && event.called >= 0 && !replay.held.includes(event.called)) {
    paintCalled(ctx, board, place(event.called), radius + 6, style.accent, replay.name(event.called), 1);
  }
}
