// The pair's own subproblem, as Platt drew it.

/** Which bound cut a step short, in a few words; empty where none did. */
function stoppedBy(replay, step) {
  const [i, j] = [replay.name(step.i), replay.name(step.j)];
  const [endI, endJ] = [replay.boundName(step.z_i_after), replay.boundName(step.z_j_after)];
  if (step.blocked === BLOCKED_BY_I) return `${i} reaches ${endI}`;
  if (step.blocked === BLOCKED_BY_J) return `${j} reaches ${endJ}`;
  if (!step.blocked) return "";
  return endI === endJ ? `${i} and ${j} reach ${endI}` : `${i} reaches ${endI}, ${j} ${endJ}`;
}

const PAIR_PROBLEM = {
  title: "The pair's own problem",
  help: "Left: the box of the two multipliers and the line on which their sum is kept. Right: the objective along it.",
};
const NEWTON_PROBLEM = {
  title: "The Newton step",
  help: "Left: the gradients of the free multipliers, as distances from the mean of their group. Right: the objective along the Newton direction, from where the multipliers are (0) to the minimum over them (1).",
};

/** The subproblem of the pair: the box, the line of constant sum, and the parabola along it. */
class PairChart extends LessonChart {
  constructor(host, options = {}) {
    super(host, { ...PAIR_PROBLEM, ...options });
  }

  paintState(ctx, style, width, height) {
    const { pair, jump } = this.replay;
    this.rename(jump ? NEWTON_PROBLEM : PAIR_PROBLEM);
    if (jump) return this.paintJump(ctx, style, jump, width, height);
    if (!pair) return this.paintEnd(ctx, style, width, height);
    return this.paintPair(ctx, style, pair, width, height);
  }

  /** Left the gradients of the free multipliers, right the objective along the Newton direction. */
  paintJump(ctx, style, jump, width, height) {
    if (jump.rounding) return this.paintSentence(ctx, style, "The minimum is reached: only rounding is left.", width, height);
    const lines = jumpNumbers(this.replay, jump);
    const text = height - 17 * lines.length;
    const [middle, bottom] = [width * 0.47, text - 40];
    paintFreeGradients(ctx, style, this.replay, jump, { left: 44, top: 22, right: middle, bottom });
    paintNewtonDirection(ctx, style, jump, { left: middle + 18, top: 22, right: width - 8, bottom });
    lines.forEach(({ mark, text: line }, row) => this.paintNumber(ctx, style, mark, line, text + 12 + 17 * row, width));
  }

  paintPair(ctx, style, step, width, height) {
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
    this.paintSentence(ctx, style, text, width, height);
  }

  /** Where there is nothing to draw. */
  paintSentence(ctx, style, text, width, height) {
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
    const boundTicks = (d) => [[0, "0"], [top, replay.bound(d) === top ? replay.words.bound : readableNumber(top, 2)]];
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
    ctx.font = style.font;
    const label = readableNumber(step.step, 3);
    const isApart = axes.x.at(step.step) - axes.x.at(0) > 0.5 * ctx.measureText(label).width + 10;
    axes.draw(ctx, style, { xTicks: [...(isApart ? [[0, "0"]] : []), [step.step, label]], yTicks: [], grid: false });
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
