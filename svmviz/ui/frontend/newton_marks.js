// A Newton step in the charts and on the Board: all that moves, how far along its direction, and what stops it.

const JUMP_NAMES = 3; // multipliers at a bound that are named; more would cover one another

/** Which bounds stopped a Newton step, in a few words; empty where none did. */
function jumpStoppedBy(replay, { blocked, indices, after }) {
  if (!blocked.length) return "";
  const [first, second] = blocked.map((d) => replay.name(d));
  if (blocked.length === 1) return `${first} reaches ${replay.boundName(after[indices.indexOf(blocked[0])])}`;
  return `${first} and ${blocked.length === 2 ? second : `${blocked.length - 1} more`} reach bounds`;
}

/** Where a Newton step ended, as short as it goes. */
function jumpEnd(replay, jump) {
  const { blocked, indices, after, fraction, rounding } = jump;
  if (!blocked.length) return rounding ? "only rounding" : "all the way";
  const where = blocked.length > 1
    ? `${blocked.length} at bounds`
    : `${replay.name(blocked[0])} at ${replay.boundName(after[indices.indexOf(blocked[0])])}`;
  return jumpHasMinimum(jump) ? `${readableNumber(fraction, 2)}, ${where}` : where;
}

/** Whether the objective has a minimum along the Newton direction; where H is singular on the free set it may not. */
function jumpHasMinimum({ slope, curvature, blocked }) {
  return !blocked.length || curvature >= -0.5 * slope;
}

/** The numbers of a Newton step to check by hand, each with the mark that stands for it in the pictures. */
function jumpNumbers(replay, jump) {
  const { blocked, fraction, slope, curvature, spread, indices } = jump;
  const [before, fall, part] = [spread[0], -slope - curvature / 2, fraction].map((value) => readableNumber(value, 3));
  const minimum = jumpHasMinimum(jump)
    ? `minimum at 1: objective lower by ${fall}`
    : "no minimum: the objective falls without end";
  const cut = jumpHasMinimum(jump) ? `cut to ${part}: ${jumpStoppedBy(replay, jump)}` : `until ${jumpStoppedBy(replay, jump)}`;
  return [
    { mark: "ring", text: `now: ${indices.length} free, g up to ${before} from the mean` },
    { mark: blocked.length && jumpHasMinimum(jump) ? "cross" : null, text: minimum },
    { mark: "disc", text: blocked.length ? cut : "all the way: the free have the same g" },
  ];
}

/** Distances of the free gradients from their mean, before and after: what a Newton step takes away. */
function paintFreeGradients(ctx, style, replay, jump, box) {
  const [before, after] = jump.apart;
  const order = jump.indices.map((_, f) => f).sort((a, b) => replay.slot[jump.indices[a]] - replay.slot[jump.indices[b]]);
  const most = Math.max(...before.map(Math.abs), ...after.map(Math.abs)) || 1;
  const ticks = [-most, 0, most].map((value) => [value, readableNumber(value, 2)]);
  ctx.font = style.font;
  box.left = Math.max(box.left, 10 + Math.max(...ticks.map(([, text]) => ctx.measureText(text).width)));
  const y = new LinearScale(-1.15 * most, 1.15 * most, box.bottom, box.top);
  const axes = new Axes(box, new LinearScale(-0.7, order.length - 0.3, box.left, box.right), y);
  axes.draw(ctx, style, { xTicks: [], yTicks: ticks, yName: "g − mean" });
  ctx.fillStyle = style.muted;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.fillText("free multipliers", (box.left + box.right) / 2, box.bottom + 6, box.right - box.left);
  const radius = Math.min(4.5, Math.max(1.5, (0.4 * (box.right - box.left)) / order.length));
  order.forEach((f, place) => {
    const x = axes.x.at(place);
    ctx.strokeStyle = style.accent;
    ctx.lineWidth = Math.min(2, radius);
    strokeSegment(ctx, x, y.at(before[f]), x, y.at(after[f]));
    drawDot(ctx, style, x, y.at(before[f]), { colour: style.text, radius, kind: "ring" });
    drawDot(ctx, style, x, y.at(after[f]), { colour: style.accent, radius });
  });
}

/** The objective along the Newton direction: 0 is now, 1 the minimum over the free multipliers. */
function paintNewtonDirection(ctx, style, jump, box) {
  const { slope, curvature, fraction, blocked } = jump;
  const goal = jumpHasMinimum(jump) ? 1 : 2 * fraction;
  const change = (t) => slope * t + 0.5 * curvature * t * t;
  const [from, to] = [-0.15 * goal, 1.3 * goal];
  const [lowest, highest] = [Math.min(change(goal), change(fraction)), change(from)];
  const y = new LinearScale(lowest - 0.14 * (highest - lowest), highest, box.bottom, box.top);
  const axes = new Axes(box, new LinearScale(from, to, box.left, box.right), y);
  const end = blocked.length ? axes.x.at(fraction) : box.right;
  ctx.fillStyle = style.secondary;
  ctx.fillRect(axes.x.at(0), box.top, end - axes.x.at(0), box.bottom - box.top);
  axes.draw(ctx, style, { xTicks: newtonTicks(jump, axes), yTicks: [], grid: false });
  ctx.fillStyle = style.muted;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const roomy = box.right - box.left > 190;
  ctx.fillText(roomy ? "objective along the direction" : "objective", box.left, box.top - 6, box.right - box.left);
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.fillText(jumpHasMinimum(jump) ? "part of the way" : "how far", box.right, box.bottom + 20, box.right - box.left);
  axes.clipped(ctx, () => paintNewtonCurve(ctx, style, jump, axes, change, end), 6);
}

/** The ends of the direction, and where it was cut off if there is room between them. */
function newtonTicks(jump, axes) {
  const { blocked, fraction } = jump;
  if (!jumpHasMinimum(jump)) return [[0, "0"], [fraction, "bound"]];
  const ends = [[0, "0"], [1, "1"]];
  const hasRoom = ends.every(([value]) => Math.abs(axes.x.at(value) - axes.x.at(fraction)) > 22);
  return blocked.length && hasRoom ? [...ends, [fraction, readableNumber(fraction, 2)]] : ends;
}

function paintNewtonCurve(ctx, style, jump, axes, change, end) {
  const { fraction, blocked } = jump;
  const { left, right, top, bottom } = axes.box;
  const start = axes.x.at(0);
  ctx.lineWidth = 2;
  ctx.strokeStyle = style.text;
  for (const [from, to, dash] of [[left, start, [3, 3]], [start, end, []], [end, right, [3, 3]]]) {
    ctx.setLineDash(dash);
    ctx.beginPath();
    for (let x = from; x < to; x += 1) ctx.lineTo(x, axes.y.at(change(axes.x.invert(x))));
    ctx.lineTo(to, axes.y.at(change(axes.x.invert(to))));
    ctx.stroke();
  }
  const at = (t) => [axes.x.at(t), axes.y.at(change(t))];
  ctx.setLineDash([2, 3]);
  ctx.strokeStyle = style.accent;
  ctx.lineWidth = 1.5;
  strokeSegment(ctx, at(fraction)[0], top, at(fraction)[0], bottom);
  ctx.setLineDash([]);
  if (blocked.length && jumpHasMinimum(jump)) drawDot(ctx, style, ...at(1), { kind: "cross" });
  drawDot(ctx, style, ...at(0), { colour: style.text, radius: 4.5, kind: "ring" });
  drawDot(ctx, style, ...at(fraction), { colour: style.accent, radius: 4.5 });
}

/** The free multipliers among the violations: all of them take part. */
function paintFreeMarks(ctx, style, chart, { indices }) {
  const few = indices.length <= 20; // more rings than that would hide one another
  const radius = few ? 4.5 : 4;
  for (const d of indices) {
    const [x, y] = chart.markAt(d);
    if (!chart.shows(x)) continue;
    for (const [width, colour] of few ? [[4, style.background], [1.75, style.accent]] : []) {
      ctx.lineWidth = width;
      ctx.strokeStyle = colour;
      ctx.beginPath();
      ctx.arc(x, y, radius + 3.5, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.fillStyle = style.accent;
    paintDirection(ctx, x, y, radius, true, true);
  }
}

/** Every free multiplier from before the step to after it; those at a bound are named. */
function paintJumpStems(ctx, style, chart, { indices, before, after, blocked }) {
  const few = indices.length <= 20;
  const [radius, width, head] = few ? [4, 3, 8] : [2.5, 2, 5];
  const { axes, replay } = chart;
  indices.forEach((d, f) => {
    const x = axes.x.at(replay.slot[d]);
    if (!chart.shows(x)) return;
    const [y0, y1] = [before[f], after[f]].map((z) => axes.y.at(chart.value(d, z)));
    ctx.strokeStyle = style.background;
    ctx.lineWidth = width + 2;
    strokeSegment(ctx, x, y0, x, y1);
    drawArrow(ctx, x, y0, x, y1, { colour: style.accent, width, head });
    drawDot(ctx, style, x, y0, { colour: style.text, radius, kind: "ring" });
    drawDot(ctx, style, x, y1, { colour: style.accent, radius });
  });
  for (const d of blocked.slice(0, JUMP_NAMES)) {
    const x = axes.x.at(replay.slot[d]);
    if (!chart.shows(x)) continue;
    const f = indices.indexOf(d);
    const [value, onLeft] = [chart.value(d, after[f]), x > axes.box.right - 48];
    const y = axes.y.at(value) + (value > 0 ? 10 : -10);
    haloText(ctx, style, replay.name(d), x + (onLeft ? -9 : 9), y, { align: onLeft ? "right" : "left", font: style.bold });
  }
}

/**
 * A Newton step on the Board: a ring round every sample that moves, and an arrow that goes as its stem among the
 * multipliers does, the longer the farther. Those that reach a bound have strong rings and a label.
 */
function paintJumpOnBoard(ctx, style, frame, replay, jump, place) {
  const { indices, change, before, after, blocked } = jump;
  const most = Math.max(...change.map(Math.abs)) || 1;
  const moved = indices.map((d, f) => ({ d, at: place(d), share: (replay.upwards(d) * change[f]) / most })).filter(({ share }) => share !== 0);
  const stopped = new Set(blocked);
  const thin = moved.length > 40 ? { radius: 10.5, width: 1.75 } : { radius: 12, width: 2.25 };
  const rings = moved.map(({ d, at }) => ({ at, ...(stopped.has(d) ? { radius: 16, width: 4 } : thin) }));
  for (const halo of [true, false]) {
    ctx.strokeStyle = halo ? style.background : style.accent;
    for (const { at, radius, width } of rings) {
      ctx.lineWidth = halo ? width + 3 : width;
      ctx.beginPath();
      ctx.arc(...at, radius, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }
  moved.forEach(({ at: [x, y], share }, k) => {
    if (jump.rounding) return; // none that a person could see moves
    const way = share > 0 ? -1 : 1;
    const [y0, y1] = [y + way * rings[k].radius, y + way * (rings[k].radius + 9 + 15 * Math.sqrt(Math.abs(share)))];
    ctx.strokeStyle = style.background;
    ctx.lineWidth = 5.5;
    strokeSegment(ctx, x, y0, x, y1);
    drawArrow(ctx, x, y0, x, y1, { colour: style.accent, width: 2.5, head: 8 });
  });
  let taken = null;
  for (const d of blocked.slice(0, JUMP_NAMES)) {
    const f = indices.indexOf(d);
    taken = paintPairLabel(ctx, style, frame, place(d), 16, {
      above: replay.upwards(d) * change[f] < 0, // the arrow is on the other side
      name: `${replay.name(d)} at ${replay.boundName(after[f])}`,
      change: alphaChange(replay, d, before[f], after[f]),
      taken,
    });
  }
}
