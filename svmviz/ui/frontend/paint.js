// Axes and points of the Board.

const BOARD_FONT_SIZE = 14;
const ROOM_FOR_NAME = 20; // pixels that the name of the axis takes of the room left of the plot

/** Tick positions at 1, 2 or 5 times a power of ten, about `count` of them between lo and hi. */
function boardTicks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return { values: [], digits: 0 };
  const scale = 10 ** Math.floor(Math.log10(raw));
  const step = scale * ([1, 2, 5, 10].find((m) => m * scale >= 0.75 * raw) ?? 10);
  const first = Math.ceil(lo / step - 1e-9);
  const last = Math.floor(hi / step + 1e-9);
  const values = Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
  return { values, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** A number for people: a real minus sign, and powers of ten when it is very large or very small. */
function boardNumber(value, digits) {
  const size = Math.abs(value);
  const text = size >= 1e6 || (size > 0 && digits > 5) ? value.toExponential(1) : value.toFixed(digits);
  return text.replace(/^-(?=0(\.0*)?$)/, "").replace("-", "\u2212");
}

/** The ticks of both axes for a plot rectangle. */
function axisTicks(frame, view) {
  return {
    across: boardTicks(view[0], view[1], Math.max(3, Math.min(10, frame.width / 80))),
    up: boardTicks(view[2], view[3], Math.max(2, Math.min(10, frame.height / 65))),
  };
}

/** Room for tick labels and name left of the plot, in steps so that panning does not make it jump. */
function roomForLabels(ctx, frame, view, look) {
  const { up } = axisTicks(frame, view);
  ctx.font = `${BOARD_FONT_SIZE}px ${look.font}`;
  const widest = Math.max(0, ...up.values.map((y) => ctx.measureText(boardNumber(y, up.digits)).width));
  return 32 + 10 * Math.ceil(widest / 10);
}

/** Draw grid, frame, ticks and axis names round the plot rectangle. */
function drawAxes(ctx, frame, view, names, look) {
  const [x0, x1, y0, y1] = view;
  const { across, up } = axisTicks(frame, view);
  const px = (x) => frame.left + ((x - x0) / (x1 - x0)) * frame.width;
  const py = (y) => frame.top + ((y1 - y) / (y1 - y0)) * frame.height;
  const bottom = frame.top + frame.height;
  ctx.save();
  ctx.strokeStyle = withAlpha(look.text, 0.09);
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const x of across.values) {
    ctx.moveTo(Math.round(px(x)) + 0.5, frame.top);
    ctx.lineTo(Math.round(px(x)) + 0.5, bottom);
  }
  for (const y of up.values) {
    ctx.moveTo(frame.left, Math.round(py(y)) + 0.5);
    ctx.lineTo(frame.left + frame.width, Math.round(py(y)) + 0.5);
  }
  ctx.stroke();
  ctx.strokeStyle = withAlpha(look.text, 0.35);
  ctx.strokeRect(frame.left - 0.5, frame.top - 0.5, frame.width + 1, frame.height + 1);
  ctx.fillStyle = look.text;
  ctx.font = `${BOARD_FONT_SIZE}px ${look.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const x of across.values) ctx.fillText(boardNumber(x, across.digits), px(x), bottom + 6);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const y of up.values) ctx.fillText(boardNumber(y, up.digits), frame.left - 7, py(y));
  ctx.font = `600 ${BOARD_FONT_SIZE}px ${look.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  ctx.fillText(names[0] ?? "", frame.left + frame.width / 2, bottom + frame.below);
  ctx.translate(frame.left - frame.before + 1, frame.top + frame.height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.textBaseline = "top";
  ctx.fillText(names[1] ?? "", 0, 0);
  ctx.restore();
}

/** Radius of a point's mark in pixels: smaller when there are many points or little room. */
function markRadius(count, frame) {
  const room = Math.min(frame.width, frame.height);
  const roomy = room < 320 ? 5.5 : room < 560 ? 6.5 : 7.5;
  return count > 600 ? roomy - 2.5 : count > 250 ? roomy - 1.5 : roomy;
}

/** Draw the points; support vectors last, so that their rings stay on top. */
function drawPoints(ctx, points, options) {
  const { place, look, radius, hovered, regression } = options;
  const rank = (point) => (point.status ? 1 : 0);
  const inOrder = [...points].sort((p, q) => rank(p) - rank(q));
  for (const point of inOrder) {
    const [x, y] = place(point.x, point.y);
    const style = regression ? CLASS_STYLES[0] : classStyle(point.label);
    const colour = look.dark ? style.dark : style.light;
    if (point.size > 0) {
      ctx.beginPath();
      ctx.arc(x, y, radius + 3 + 9 * Math.min(1, point.size), 0, 2 * Math.PI);
      ctx.fillStyle = withAlpha(colour, 0.32);
      ctx.fill();
    }
    const size = point === hovered ? radius + 1.5 : radius;
    const sprite = markSprite(style.shape, colour, size, point.status, radius + 5, look, point.hollow);
    ctx.globalAlpha = point.opacity ?? 1;
    drawSprite(ctx, sprite, x, y);
    ctx.globalAlpha = 1;
  }
}

const markSprites = new Map(); // what a mark looks like -> a small canvas with it

/** A mark with its ring on a canvas of its own: 200 ready pictures cost a fifth of 200 paths with dashes. */
function markSprite(shape, colour, radius, status, ringRadius, look, hollow = false) {
  const ratio = window.devicePixelRatio || 1;
  const key = [shape, colour, radius, status, ringRadius, look.text, look.background, ratio, hollow].join();
  const known = markSprites.get(key);
  if (known) return known;
  if (markSprites.size > 200) markSprites.clear();
  const reach = Math.ceil(Math.max(ringRadius, 1.5 * radius) + 5);
  const sprite = document.createElement("canvas");
  sprite.width = 2 * reach * ratio;
  sprite.height = 2 * reach * ratio;
  const ctx = sprite.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, reach * ratio, reach * ratio);
  if (hollow) drawMark(ctx, shape, 0, 0, radius - 1, look.background, colour, 2.25);
  else drawMark(ctx, shape, 0, 0, radius, colour, look.background, 1.75);
  drawRing(ctx, status, 0, 0, ringRadius, look.text, withAlpha(look.background, 0.75), 2);
  markSprites.set(key, { sprite, reach, ratio });
  return markSprites.get(key);
}

/** Copy a sprite to a place, on whole pixels of the screen so that it stays sharp. */
function drawSprite(ctx, { sprite, reach, ratio }, x, y) {
  const snap = (value) => Math.round((value - reach) * ratio) / ratio;
  ctx.drawImage(sprite, snap(x), snap(y), 2 * reach, 2 * reach);
}

/** Draw the circle in which a brush works. */
function drawBrush(ctx, x, y, radius, look) {
  ctx.save();
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fillStyle = withAlpha(look.text, 0.07);
  ctx.fill();
  ctx.strokeStyle = withAlpha(look.text, 0.6);
  ctx.lineWidth = 1.5;
  ctx.stroke();
  ctx.restore();
}
