// Reduced hulls, prototypes, the links between them and the line that bisects one: on any canvas, in any plane.

/** Dashes of a class's outline: with the colours, but also without, classes can be told apart. */
const HULL_DASHES = [[], [9, 5], [3, 4], [13, 4, 3, 4], [6, 3], [15, 6]];
const PROTOTYPE_RADIUS = 10;
const CROWDED_LINKS = 60; // more of them are drawn as a veil
const VERTEX_SPACING = 7; // pixels between two vertices that get a dot each

/**
 * Paint a geometry. A pure function of its arguments; clip the canvas to the frame before.
 * @param {CanvasRenderingContext2D} ctx
 * @param {object} look the theme, see `theme` in palette.js
 * @param {(x: number, y: number) => number[]} toPixel
 * @param {{left: number, top: number, width: number, height: number}} frame the plot's rectangle in pixels
 * @param {object} geometry all optional:
 *   hulls: [{label, vertices: [[x, y]]}], counter-clockwise, as `reducedHull(...).vertices`
 *   prototypes: [{label, at: [x, y], name}]
 *   links: [{from, to, text}], from and to being numbers of prototypes; text "" for none;
 *     optional: width in pixels, faint: of many links one that only shows that it is there
 *   bisector: {from, to}, numbers of the prototypes halfway between which the line passes, at right angles in the
 *     units of the plane
 *   makers: [{at: [x, y], share}], samples that make what is pointed at; share from 0 to 1 is the size of their rings
 *   pointed: [x, y], what is pointed at
 */
function paintGeometry(ctx, look, toPixel, frame, geometry) {
  paintHulls(ctx, look, toPixel, geometry);
  paintPrototypes(ctx, look, toPixel, frame, geometry);
}

/** The part that belongs beneath the samples: filled hulls. */
function paintHulls(ctx, look, toPixel, { hulls = [] }) {
  for (const { label, vertices } of hulls) {
    const colour = classColour(label, look.dark);
    const places = vertices.map(([x, y]) => toPixel(x, y));
    ctx.save();
    ctx.beginPath();
    places.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.closePath();
    ctx.fillStyle = withAlpha(colour, look.dark ? 0.22 : 0.16);
    ctx.fill();
    ctx.lineJoin = "round";
    ctx.lineWidth = 2;
    ctx.strokeStyle = colour;
    ctx.setLineDash(HULL_DASHES[label % HULL_DASHES.length]);
    ctx.stroke();
    ctx.fillStyle = colour;
    for (const [x, y] of spacedOut(places)) {
      ctx.beginPath();
      ctx.arc(x, y, 3, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
  }
}

/** Places without those that are too close to the one before to be told apart. */
function spacedOut(places) {
  const kept = [];
  for (const place of places) {
    const last = kept[kept.length - 1];
    if (!last || Math.hypot(place[0] - last[0], place[1] - last[1]) >= VERTEX_SPACING) kept.push(place);
  }
  return kept;
}

/** The part that belongs on top: makers, links, bisector, prototypes, names. */
function paintPrototypes(ctx, look, toPixel, frame, geometry) {
  const { prototypes = [], links = [], bisector = null, makers = [], pointed = null } = geometry;
  const places = prototypes.map(({ at }) => toPixel(...at));
  ctx.save();
  ctx.lineCap = "round";
  if (bisector) paintBisector(ctx, look, toPixel, frame, prototypes[bisector.from].at, prototypes[bisector.to].at);
  paintMakers(ctx, look, makers.map(({ at, share }) => ({ place: toPixel(...at), share })), pointed && toPixel(...pointed));
  for (const { from, to, width, faint } of links) {
    if (faint) faintSegment(ctx, look, places[from], places[to], links.length > CROWDED_LINKS ? 0.18 : 0.4);
    else haloedSegment(ctx, look, places[from], places[to], width ?? 2.25);
  }
  prototypes.forEach(({ label }, k) => paintPrototype(ctx, look, label, places[k]));
  // Names first: a letter beside the wrong prototype is worse than a distance a little further off.
  const taken = places.map(([x, y]) => ({ left: x - 7, top: y - 7, width: 14, height: 14, mark: true }));
  prototypes.forEach(({ name }, k) => paintPrototypeName(ctx, look, frame, name, places, k, links, taken));
  links.forEach(({ from, to, text }) => paintLinkText(ctx, look, frame, places[from], places[to], text, taken));
  ctx.restore();
}

/** A line with a band of background colour that sets it off from what lies beneath. */
function haloedSegment(ctx, look, [x0, y0], [x1, y1], width, dash = []) {
  ctx.setLineDash([]);
  ctx.lineWidth = width + 3;
  ctx.strokeStyle = withAlpha(look.background, 0.8);
  strokeSegment(ctx, x0, y0, x1, y1);
  ctx.setLineDash(dash);
  ctx.lineWidth = width;
  ctx.strokeStyle = look.text;
  strokeSegment(ctx, x0, y0, x1, y1);
  ctx.setLineDash([]);
}

/** A thin line that steps back behind all else. */
function faintSegment(ctx, look, [x0, y0], [x1, y1], alpha) {
  ctx.lineWidth = 1;
  ctx.strokeStyle = withAlpha(look.text, alpha);
  strokeSegment(ctx, x0, y0, x1, y1);
}

/** The line on which the distances to two places are the same, from edge to edge of the frame. */
function paintBisector(ctx, look, toPixel, frame, a, b) {
  const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const [x, y] = toPixel(...middle);
  const [u, v] = toPixel(middle[0] - (b[1] - a[1]), middle[1] + (b[0] - a[0]));
  const length = Math.hypot(u - x, v - y);
  if (!(length > 0)) return;
  const reach = (frame.width + frame.height + Math.abs(x - frame.left) + Math.abs(y - frame.top)) / length;
  const [dx, dy] = [(u - x) * reach, (v - y) * reach];
  haloedSegment(ctx, look, [x - dx, y - dy], [x + dx, y + dy], 3);
}

/** Rings round the samples that make a place, larger for a larger share, and thin lines to it. */
function paintMakers(ctx, look, makers, pointed) {
  const { accent } = chartStyle(look);
  ctx.lineWidth = 1;
  ctx.strokeStyle = withAlpha(look.text, 0.35);
  if (pointed) for (const { place } of makers) strokeSegment(ctx, ...place, ...pointed);
  for (const { place, share } of makers) {
    for (const [width, colour] of [[5.5, withAlpha(look.background, 0.85)], [3, accent]]) {
      ctx.beginPath();
      ctx.arc(...place, 9 + 9 * Math.sqrt(Math.min(1, share)), 0, 2 * Math.PI);
      ctx.lineWidth = width;
      ctx.strokeStyle = colour;
      ctx.stroke();
    }
  }
  if (!pointed) return;
  drawMark(ctx, "circle", ...pointed, 6, accent, look.background, 2);
}

function paintPrototype(ctx, look, label, [x, y]) {
  const { shape } = classStyle(label);
  markPath(ctx, shape, x, y, PROTOTYPE_RADIUS);
  ctx.lineJoin = "round";
  for (const [width, colour] of [[9, look.background], [5.5, look.text]]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.stroke();
  }
  ctx.fillStyle = classColour(label, look.dark);
  ctx.fill();
}

/** How long a link is, beside its middle; left out where the link is too short to have room for it. */
function paintLinkText(ctx, look, frame, from, to, text, taken) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (!text) return;
  ctx.font = `600 15px ${look.font}`;
  const box = { width: ctx.measureText(text).width + 12, height: 22 };
  const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  const normal = length > 0 ? [-(to[1] - from[1]) / length, (to[0] - from[0]) / length] : [0, -1];
  const gap = 8 + Math.abs(normal[0]) * box.width / 2 + Math.abs(normal[1]) * box.height / 2;
  const beside = length > 3 * PROTOTYPE_RADIUS ? gap : gap + 1.6 * PROTOTYPE_RADIUS;
  const places = [0, 24, 48].flatMap((more) => [1, -1].map((side) => [0, 1].map((axis) => middle[axis] + side * normal[axis] * (beside + more))));
  paintBoxedText(ctx, look, frame, text, places, box, taken);
}

/** The name of a prototype, on the side that its links leave free, and nearer to it than to any other. */
function paintPrototypeName(ctx, look, frame, name, places, k, links, taken) {
  if (!name) return;
  const [x, y] = places[k];
  let [awayX, awayY] = [0, 0];
  for (const { from, to } of links) {
    if (from !== k && to !== k) continue;
    const other = places[from === k ? to : from];
    const length = Math.hypot(other[0] - x, other[1] - y);
    if (length > 1) [awayX, awayY] = [awayX - (other[0] - x) / length, awayY - (other[1] - y) / length];
  }
  const length = Math.hypot(awayX, awayY);
  const [u, v] = length > 0.05 ? [awayX / length, awayY / length] : [k % 2 ? 0.8 : -0.8, -0.6];
  ctx.font = `700 16px ${look.font}`;
  const box = { width: ctx.measureText(name).width + 10, height: 22 };
  const reach = PROTOTYPE_RADIUS + 7;
  const at = (turn) => [
    x + (u * Math.cos(turn) - v * Math.sin(turn)) * (reach + box.width / 2),
    y + (u * Math.sin(turn) + v * Math.cos(turn)) * (reach + box.height / 2),
  ];
  const round = [0, 1, -1, 2, -2, 3, -3, 4].map((eighth) => at((eighth * Math.PI) / 4));
  const isOwn = ([px, py]) => places.every(([qx, qy]) => Math.hypot(px - x, py - y) <= Math.hypot(px - qx, py - qy));
  const own = round.filter(isOwn);
  paintBoxedText(ctx, look, frame, name, own.length ? own : round, box, taken);
}

/** A text in a box of background colour at the first of some places that is free and within the frame. */
function paintBoxedText(ctx, look, frame, text, places, { width, height }, taken) {
  const boxes = places.map(([x, y]) => ({
    left: Math.min(Math.max(x - width / 2, frame.left + 2), frame.left + frame.width - width - 2),
    top: Math.min(Math.max(y - height / 2, frame.top + 2), frame.top + frame.height - height - 2),
    width,
    height,
  }));
  const shifted = (box, k) => Math.hypot(box.left + width / 2 - places[k][0], box.top + height / 2 - places[k][1]) > 12;
  const isFree = (others) => (box, k) => !shifted(box, k) && !others.some((other) => boxesOverlap(box, other));
  const box = boxes.find(isFree(taken)) ?? boxes.find(isFree(taken.filter(({ mark }) => !mark))) ?? boxes[0];
  taken.push(box);
  ctx.fillStyle = withAlpha(look.background, 0.85);
  ctx.beginPath();
  ctx.roundRect(box.left, box.top, width, height, 5);
  ctx.fill();
  ctx.fillStyle = look.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(text, box.left + width / 2, box.top + height / 2 + 1);
}

function boxesOverlap(a, b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
}
