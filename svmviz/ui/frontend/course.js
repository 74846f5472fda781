// The course of a walk between its breakpoints, and what is painted of it over the Board.

const SAMPLE_SETS = { REST: 0, MARGIN: 1, BOUND: 2, LEAVING: 3 };
const AT_BREAKPOINT = 1e-9; // nearer than this a position is there

/** A walk between its breakpoints, see svmviz/ui/unlearning.py. Position p counts stretches, from 0 to `last`. */
class Course {
  /** @param {object} shown the entry "unlearn" of the data @param {Float64Array} coef (k + 1) times P times (m) */
  constructor(shown, coef) {
    const { walk, model, rows } = shown;
    Object.assign(this, { shown, walk, coef });
    this.places = walk?.places ?? rows.map((_, i) => i);
    this.last = walk ? walk.bias.length : 0;
    this.events = walk?.events ?? [];
    this.learns = walk?.learns ?? false;
    this.centres = this.places.map((i) => model.centres[i]);
  }

  /** The stretch that a position lies on, and how far along it is, from 0 to 1. */
  at(position) {
    const stretch = Math.max(0, Math.min(this.last - 1, Math.floor(position)));
    return [stretch, position - stretch];
  }

  /** Value of the parabola through the values at the start, in the middle and at the end of a stretch. */
  mixed([first, middle, last], part) {
    return first + part * (4 * middle - 3 * first - last) + 2 * part * part * (first + last - 2 * middle);
  }

  /** The model of the Board at a position, see field.js. */
  model(position) {
    const { model } = this.shown;
    const [stretch, part] = this.at(position);
    const still = this.walk?.still ?? model;
    const biases = this.last ? this.walk.bias[stretch].map((three) => this.mixed(three, part)) : still.bias;
    const level = this.last ? this.mixed(this.walk.level[stretch], part) : still.level;
    const functions = biases.map((bias, p) => ({ coef: this.#coefficients(stretch, part, p, biases.length), bias, classes: model.classes[p] }));
    const picture = { ...model, centres: this.centres, functions };
    if (model.decision === "tube") return { ...picture, epsilon: level };
    if (model.decision !== "vote" || level <= 0) return { ...picture, levels: [] };
    return { ...picture, levels: [-level, level], scale: level };
  }

  #coefficients(stretch, part, p, functions) {
    const count = this.places.length;
    const from = (stretch * functions + p) * count;
    const next = this.last ? from + functions * count : from;
    return Array.from({ length: count }, (_, i) => this.coef[from + i] + part * (this.coef[next + i] - this.coef[from + i]));
  }

  /** The set of each sample on the stretch at a position; of a learned one at the end where it has come to. At a
   * breakpoint it is the stretch that a walk in this direction (1 or -1) comes to. */
  sets(position, heading = 1) {
    const sets = [...this.shown.sets];
    const changes = this.walk?.changes ?? [];
    const on = heading < 0 ? Math.max(Number(this.learns), Math.ceil(position - AT_BREAKPOINT)) : this.at(position)[0] + 1;
    const count = position >= this.last ? changes.length : on;
    for (const change of changes.slice(0, count)) {
      for (const [sample, set] of change) sets[sample] = set;
    }
    return sets;
  }

  /** What part of the multiplier is there, from 0 to 1. */
  share(position) {
    const { shares } = this.walk;
    if (!this.last) return shares[0];
    const [stretch, part] = this.at(position);
    return shares[stretch] + part * (shares[stretch + 1] - shares[stretch]);
  }

  /** How many events have happened. */
  happened(position) {
    return this.events.filter(({ at }) => at <= position + AT_BREAKPOINT).length;
  }

  /** Which event was the last in this direction (1 or -1); -1 before the first, or at the start again. */
  latest(position, heading) {
    if (heading > 0) return this.happened(position) - 1;
    return position > AT_BREAKPOINT ? this.events.findIndex(({ at }) => at >= position - AT_BREAKPOINT) : -1;
  }

  /** What that event means in this direction, in words; -1 stands for what the walk begins with, or has come back to. */
  words(k, heading) {
    const { text, back } = this.events[k] ?? this.walk.start;
    return heading > 0 ? text : back;
  }
}

/** A diagonal cross over a point that changes sides when it is left out. */
function paintFlip(ctx, look, [x, y], radius) {
  for (const [width, colour] of [[6, withAlpha(look.background, 0.85)], [2.75, look.text]]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    for (const way of [1, -1]) {
      ctx.moveTo(x - radius, y - way * radius);
      ctx.lineTo(x + radius, y + way * radius);
    }
    ctx.stroke();
  }
}

/** A wide ring and a name: the point that changes sets at this moment. */
function paintCalled(ctx, board, [x, y], radius, colour, name, strength) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.lineWidth = 3;
  ctx.strokeStyle = withAlpha(colour, 0.25 + 0.75 * strength);
  ctx.stroke();
  paintUnlearnName(ctx, board, name, [x, y], radius);
}

/** The arc of what is left of a multiplier round the point that leaves, and its name. */
function paintLeaving(ctx, board, [x, y], radius, colour, name, left) {
  const arc = (from, to, width, stroke) => {
    ctx.beginPath();
    ctx.arc(x, y, radius, from, to);
    ctx.lineWidth = width;
    ctx.strokeStyle = stroke;
    ctx.stroke();
  };
  const top = -Math.PI / 2;
  arc(0, 2 * Math.PI, 7, withAlpha(board.look.background, 0.85));
  arc(0, 2 * Math.PI, 1, withAlpha(board.look.text, 0.5));
  if (left > 0) arc(top, top + 2 * Math.PI * left, 4.5, colour);
  paintUnlearnName(ctx, board, name, [x, y], radius);
}

function paintUnlearnName(ctx, board, name, [x, y], radius) {
  ctx.font = `700 14px ${board.look.font}`;
  const box = { width: ctx.measureText(name).width + 8, height: 20 };
  const right = x + radius + 3 + box.width < board.frame.left + board.frame.width;
  paintBoxedText(ctx, board.look, board.frame, name, [[right ? x + radius + 3 + box.width / 2 : x - radius - 3 - box.width / 2, y]], box, []);
}
