// The pair on the Board, and among the violations: rings, names and arrows.

/** A thin double ring round a sample that is under the pointer on a chart. */
function paintHoveredSample(ctx, style, [x, y]) {
  ctx.lineWidth = 5;
  ctx.strokeStyle = style.background;
  ctx.beginPath();
  ctx.arc(x, y, 13, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.lineWidth = 2;
  ctx.strokeStyle = style.text;
  ctx.stroke();
}

/** The pair on the Board: a line between the two, strong rings, an arrow and a name on each. */
function paintPairOnBoard(ctx, style, frame, replay, step, i, j) {
  const radius = 16;
  const apart = Math.hypot(j[0] - i[0], j[1] - i[1]);
  if (apart > 2 * radius) {
    const cut = radius / apart;
    const ends = [i[0] + (j[0] - i[0]) * cut, i[1] + (j[1] - i[1]) * cut, j[0] + (i[0] - j[0]) * cut, j[1] + (i[1] - j[1]) * cut];
    ctx.setLineDash([]);
    ctx.lineWidth = 5;
    ctx.strokeStyle = style.background;
    strokeSegment(ctx, ...ends);
    ctx.lineWidth = 2.25;
    ctx.strokeStyle = style.accent;
    strokeSegment(ctx, ...ends);
  }
  for (const [width, colour] of [[7.5, style.background], [4, style.accent]]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    for (const [x, y] of [i, j]) {
      ctx.beginPath();
      ctx.arc(x, y, radius, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }
  // Where the two are close, one label goes above and the other below.
  const iAbove = i[1] <= j[1];
  const { z, plus } = replay.words;
  const letter = z === plus ? z : "z";
  const change = (d, before, after) => alphaChange(replay, d, before, after);
  const first = paintPairLabel(ctx, style, frame, i, radius, {
    above: iAbove, name: `${letter}↑ ${replay.name(step.i)}`, change: change(step.i, step.z_i_before, step.z_i_after),
  });
  paintPairLabel(ctx, style, frame, j, radius, {
    above: !iAbove, name: `${letter}↓ ${replay.name(step.j)}`, change: change(step.j, step.z_j_before, step.z_j_after), taken: first,
  });
}

function alphaChange(replay, d, before, after) {
  const [from, to] = [before, after].map((z) => readableNumber(replay.multiplier(d, z), 3));
  return `${replay.letter(d)} ${from} → ${to}`;
}

/** A label beside a point; returns its rectangle, so that the next one (`taken`) can keep clear of it. */
function paintPairLabel(ctx, style, frame, [x, y], radius, { above, name, change, taken = null }) {
  const family = style.font.split("px ")[1];
  const [nameFont, changeFont] = [`700 15px ${family}`, `13px ${family}`];
  ctx.font = nameFont;
  const nameWidth = ctx.measureText(name).width;
  ctx.font = changeFont;
  const width = Math.max(nameWidth, ctx.measureText(change).width) + 12;
  const height = 38;
  const [right, bottom] = [frame.left + frame.width, frame.top + frame.height];
  const left = Math.min(Math.max(frame.left + 3, x - width / 2), right - width - 3);
  const [over, under] = [y - radius - height - 5, y + radius + 5];
  let top = (above && over > frame.top + 2) || under + height > bottom - 2 ? over : under;
  const overlaps = taken && Math.abs(taken.top - top) < height + 2 && left < taken.left + taken.width && taken.left < left + width;
  if (overlaps) top = taken.top + (top === over ? -1 : 1) * (height + 3);
  ctx.fillStyle = withAlpha(style.background, 0.9);
  ctx.strokeStyle = style.accent;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.roundRect(left, top, width, height, 5);
  ctx.fill();
  ctx.stroke();
  ctx.fillStyle = style.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(change, left + width / 2, top + 27);
  ctx.font = nameFont;
  ctx.fillText(name, left + width / 2, top + 11);
  return { left, top, width };
}

/** The name of a pair's member with the way it goes, and from where to where it stands beside its mark. */
function spanOfName(ctx, chart, d, rises) {
  const [x] = chart.markAt(d);
  const { left, right } = chart.axes.box;
  const text = `${chart.replay.name(d)} ${rises ? "↑" : "↓"}`;
  const width = ctx.measureText(text).width;
  // Outwards where there is room: the threshold is named on the other side.
  const onLeft = x > (left + right) / 2 ? x + 58 > right : x - 58 > left;
  return { text, onLeft, from: onLeft ? x - 10 - width : x + 10, to: onLeft ? x - 10 : x + 10 + width };
}

/** Rings and names the mark of a pair's member, with the way it goes. */
function paintPairMark(ctx, style, chart, d, rises) {
  const [x, y] = chart.markAt(d);
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
  ctx.font = style.bold;
  const { text, onLeft } = spanOfName(ctx, chart, d, rises);
  const beside = Math.min(Math.max(rises ? y + 11 : y - 11, top + 6), bottom - 6);
  haloText(ctx, style, text, x + (onLeft ? -10 : 10), beside, { align: onLeft ? "right" : "left", font: style.bold });
}
