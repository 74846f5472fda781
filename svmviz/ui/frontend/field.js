// Decisions, the coloured regions, and the tube of a regressor.

const RASTER_STEP = 3; // pixels of the screen for one pixel of the coloured regions

// A decision turns one value of each function into a class. It has
//   labels                     the classes
//   winner(values)             index (into labels) of the class that wins
//   strength(values, winner)   how clearly it wins, between 0 and 1
//   ambiguous(values)          whether it wins only by a rule for ties
//   edges                      lines on which the winner may change: it does where `of` is 0 and `real` holds
//   sides                      with a single function: the labels where it is negative and positive

/** The classes that functions speak of, in order. */
function labelsOf(functions) {
  return [...new Set(functions.flatMap((f) => f.classes))].sort((a, b) => a - b);
}

/** An edge between every two of `count` classes. */
function pairEdges(count, edge) {
  return Array.from({ length: count }, (_, a) => Array.from({ length: count - a - 1 }, (__, k) => edge(a, a + 1 + k))).flat();
}

/** The class of the largest value wins; several functions may belong to one class. */
class Argmax {
  /**
   * @param {{classes: number[]}[]} functions each speaks for classes[0]
   * @param {number} scale lead that is as clear as it gets
   */
  constructor(functions, scale = 1) {
    this.labels = labelsOf(functions);
    this.scale = scale;
    this.owner = functions.map((f) => this.labels.indexOf(f.classes[0]));
    this.best = new Float64Array(this.labels.length);
    this.lead = 0; // of the winner that `decide` found last
    this.edges = pairEdges(this.labels.length, (a, b) => ({
      pair: [a, b],
      of: (values) => this.count(values)[b] - this.best[a], // not above 0 at a tie, which goes to a
      real: (values) => {
        const first = Math.max(this.count(values)[a], this.best[b]);
        return this.best.every((other, r) => r === a || r === b || other <= first);
      },
    }));
  }

  /** The largest value of each class. */
  count(values) {
    const { best, owner } = this;
    best.fill(-Infinity);
    for (let k = 0; k < owner.length; k += 1) best[owner[k]] = Math.max(best[owner[k]], values[k]);
    return best;
  }

  winner(values) {
    const best = this.count(values);
    let first = 0;
    for (let r = 1; r < best.length; r += 1) if (best[r] > best[first]) first = r;
    return first;
  }

  /** The winner, and in `lead` how far it is ahead of the next class: in one pass, for whole lattices. */
  decide(values) {
    const { owner } = this;
    let [winner, first, second] = [owner[0], values[0], -Infinity];
    for (let k = 1; k < owner.length; k += 1) {
      const value = values[k];
      if (value > first || (value === first && owner[k] < winner)) { // ties go to the earlier class
        if (owner[k] !== winner) [winner, second] = [owner[k], first];
        first = value;
      } else if (value > second && owner[k] !== winner) second = value;
    }
    this.lead = first - second;
    return winner;
  }

  strength(values, winner) {
    const best = this.count(values);
    let second = -Infinity;
    for (let r = 0; r < best.length; r += 1) if (r !== winner) second = Math.max(second, best[r]);
    return Math.min(1, Math.max(0, best[winner] - second) / this.scale);
  }

  /** Whether not exactly one class is claimed. */
  ambiguous(values) {
    let claimed = 0;
    for (const value of this.count(values)) if (value > 0) claimed += 1;
    return claimed !== 1;
  }
}

/** One function that is not negative inside a region; there is no class outside. */
class Inside {
  constructor(functions, scale = 1) {
    this.labels = [null, functions[0].classes[0] ?? 0];
    this.sides = this.labels;
    this.scale = scale;
    this.edges = [];
  }

  winner(values) {
    return values[0] >= 0 ? 1 : 0;
  }

  strength(values) {
    return Math.min(1, Math.abs(values[0]) / this.scale);
  }

  ambiguous() {
    return false;
  }
}

/** Votes of pairwise functions, ties broken by the summed decision values as scikit-learn does. */
class Vote {
  /**
   * @param {{classes: number[]}[]} functions f > 0 votes for classes[1], otherwise for classes[0]
   * @param {number} scale value that is as clear as it gets
   */
  constructor(functions, scale = 1) {
    this.labels = labelsOf(functions);
    this.scale = scale;
    this.pairs = functions.map((f) => f.classes.map((label) => this.labels.indexOf(label)));
    this.votes = new Float64Array(this.labels.length);
    this.sums = new Float64Array(this.labels.length);
    if (functions.length === 1) this.sides = functions[0].classes;
    this.edges = [
      ...functions.map((_, k) => ({ of: (values) => values[k], real: (values) => this.turnsWith(values, k) })),
      ...pairEdges(this.labels.length, (a, b) => ({
        of: (values) => {
          this.count(values);
          return this.sums[b] - this.sums[a];
        },
        real: (values) => this.tiedFirst(values, a, b),
      })),
    ];
  }

  /** Count votes and sum values for one value of each function. */
  count(values) {
    this.votes.fill(0);
    this.sums.fill(0);
    for (let k = 0; k < this.pairs.length; k += 1) {
      const [a, b] = this.pairs[k];
      this.votes[values[k] > 0 ? b : a] += 1;
      this.sums[a] -= values[k];
      this.sums[b] += values[k];
    }
  }

  /** Index (into labels) of the winning class for one value of each function. */
  winner(values) {
    this.count(values);
    let best = 0;
    for (let r = 1; r < this.votes.length; r += 1) {
      const more = this.votes[r] - this.votes[best];
      if (more > 0 || (more === 0 && this.sums[r] > this.sums[best])) best = r;
    }
    return best;
  }

  /** How clearly a class wins: its smallest pairwise value, between 0 and 1. */
  strength(values, winner) {
    let least = 1;
    for (let k = 0; k < this.pairs.length; k += 1) {
      const [a, b] = this.pairs[k];
      if (a === winner || b === winner) least = Math.min(least, Math.abs(values[k]) / this.scale);
    }
    return least;
  }

  /** Whether several classes share the first place by votes. */
  ambiguous(values) {
    this.count(values);
    const first = Math.max(...this.votes);
    return this.votes.indexOf(first) !== this.votes.lastIndexOf(first);
  }

  /** Whether the winner changes where function k changes its sign, at a place with these values. */
  turnsWith(values, k) {
    const old = values[k];
    values[k] = 1e-12;
    const above = this.winner(values);
    values[k] = -1e-12;
    const below = this.winner(values);
    values[k] = old;
    return above !== below;
  }

  /** Whether classes a and b share the first place by votes and no other class beats their equal sums. */
  tiedFirst(values, a, b) {
    this.count(values);
    const first = Math.max(...this.votes);
    if (this.votes[a] !== first || this.votes[b] !== first) return false;
    const sum = Math.max(this.sums[a], this.sums[b]);
    return this.sums.every((other, r) => r === a || r === b || this.votes[r] < first || other <= sum);
  }
}

/** The decision of a model. */
function decisionOf({ decision, functions, levels, scale }) {
  const Kind = { argmax: Argmax, inside: Inside }[decision] ?? Vote;
  return new Kind(functions, scale ?? (Math.max(0, ...(levels ?? []).map(Math.abs)) || 1));
}

/** The levels that a model's single function shows beside its boundary. */
function levelsOf({ decision, functions, levels }) {
  if (functions.length > 1) return [];
  return levels ?? (decision === "inside" ? [] : [-1, 1]);
}

/** One value of each function at a place between lattice points. */
function interpolate(fields, nx, ny, x, y, out) {
  const i = Math.min(nx - 2, Math.max(0, Math.floor(x)));
  const j = Math.min(ny - 2, Math.max(0, Math.floor(y)));
  const [u, v] = [x - i, y - j];
  const at = j * nx + i;
  for (let k = 0; k < fields.length; k += 1) {
    const f = fields[k];
    const low = f[at] + u * (f[at + 1] - f[at]);
    const high = f[at + nx] + u * (f[at + nx + 1] - f[at + nx]);
    out[k] = low + v * (high - low);
  }
  return out;
}

const TINTS = { light: [34, 80], dark: [38, 92] }; // opacity of a region, out of 255, where it is least and most clear
const TINT_STEPS = 256;

/** Colours of one region from least to most clear, as the 32-bit pixels of an ImageData; none without a class. */
function tintTable(label, dark) {
  if (label === null) return new Uint32Array(TINT_STEPS);
  const [red, green, blue] = parseColour(classColour(label, dark));
  const [weak, strong] = dark ? TINTS.dark : TINTS.light;
  const bytes = new Uint8ClampedArray(4 * TINT_STEPS);
  for (let k = 0; k < TINT_STEPS; k += 1) bytes.set([red, green, blue, weak + ((strong - weak) * k) / (TINT_STEPS - 1)], 4 * k);
  return new Uint32Array(bytes.buffer);
}

/** The row of a lattice's values at height y (in lattice units), into `out`. */
function latticeRow(field, nx, ny, y, out) {
  const j = Math.min(ny - 2, Math.floor(y));
  const v = y - j;
  for (let i = 0; i < nx; i += 1) out[i] = field[j * nx + i] * (1 - v) + field[(j + 1) * nx + i] * v;
}

const AMBIGUOUS = 128; // added to the winner on a lattice point

/** The decision on every lattice point: the winning class, how clearly it wins, and whether it is ambiguous. */
class RegionMap {
  constructor(fields, decision, nx, ny, hatch = false) {
    Object.assign(this, { fields, decision, nx, ny, hatch });
    this.codes = new Uint8Array(nx * ny); // winner, with AMBIGUOUS added where it is and matters
    this.strengths = new Float64Array(nx * ny);
    if (!decision.sides) this.#decideAll();
  }

  #decideAll() {
    const { fields, decision } = this;
    const quick = decision.decide && !this.hatch;
    const values = new Float64Array(fields.length);
    for (let at = 0; at < this.codes.length; at += 1) {
      for (let k = 0; k < fields.length; k += 1) values[k] = fields[k][at];
      if (quick) {
        this.codes[at] = decision.decide(values);
        this.strengths[at] = Math.min(1, decision.lead / decision.scale);
        continue;
      }
      const code = this.#code(values);
      this.codes[at] = code;
      this.strengths[at] = decision.strength(values, code & ~AMBIGUOUS);
    }
  }

  #code(values) {
    const { decision, hatch } = this;
    return decision.winner(values) | (hatch && decision.ambiguous(values) ? AMBIGUOUS : 0);
  }

  /** Whether the decision differs between the corners of the cell that starts at a lattice point. */
  isMixed(at) {
    const { codes, nx } = this;
    const first = codes[at];
    return codes[at + 1] !== first || codes[at + nx] !== first || codes[at + nx + 1] !== first;
  }

  /** The pieces of level lines along which the winner really changes, as paths in lattice coordinates. */
  boundary() {
    const { decision, fields, nx, ny } = this;
    if (decision.sides) return levelPaths(fields[0], nx, ny, 0);
    const pieces = [];
    for (let j = 0; j < ny - 1; j += 1) {
      for (let i = 0; i < nx - 1; i += 1) {
        if (this.isMixed(j * nx + i)) pieces.push(...this.#cellBoundary(i, j));
      }
    }
    return pieces;
  }

  #cellBoundary(i, j) {
    const { fields, decision, nx, ny } = this;
    const at = j * nx + i;
    const places = [at, at + 1, at + nx + 1, at + nx];
    const corners = places.map((index) => fields.map((f) => f[index]));
    const won = places.map((index) => this.codes[index] & ~AMBIGUOUS);
    const values = new Float64Array(fields.length);
    const middle = ([[x0, y0], [x1, y1]]) => interpolate(fields, nx, ny, (x0 + x1) / 2, (y0 + y1) / 2, values);
    // Where the largest value wins, a line between two classes is only where both win.
    const edges = decision.edges.filter(({ pair }) => !pair || pair.every((label) => won.includes(label)));
    return edges.flatMap(({ of, real }) =>
      cellSegments(i, j, corners.map(of)).filter((piece) => real(middle(piece))));
  }

  /** Paint the regions into an image: tints of the class colours, stronger where the decision is clearer. */
  paint(image, dark) {
    if (this.decision.sides) this.#paintTwo(image, dark);
    else this.#paintAll(image, dark);
  }

  /** Two sides of one function: one look-up in a table of tints a pixel. */
  #paintTwo(image, dark) {
    const { decision, nx, ny } = this;
    const [field] = this.fields;
    const { width, height } = image;
    const pixels = new Uint32Array(image.data.buffer);
    const [below, above] = decision.sides.map((label) => tintTable(label, dark));
    const steepness = 1 / decision.scale;
    const row = new Float64Array(nx);
    const across = (nx - 1) / width;
    let pixel = 0;
    for (let r = 0; r < height; r += 1) {
      latticeRow(field, nx, ny, ((height - r - 0.5) / height) * (ny - 1), row); // image rows run downwards, y upwards
      for (let q = 0; q < width; q += 1) {
        const x = (q + 0.5) * across;
        const i = Math.min(nx - 2, x | 0);
        const value = row[i] + (x - i) * (row[i + 1] - row[i]);
        const clear = (Math.min(1, Math.abs(value) * steepness) * (TINT_STEPS - 1)) | 0;
        pixels[pixel] = value > 0 ? above[clear] : below[clear];
        pixel += 1;
      }
    }
  }

  #paintAll(image, dark) {
    const { fields, decision, nx, ny, codes, strengths } = this;
    const { width, height, data } = image;
    this.ambiguous = new Uint8Array(width * height); // pixels to hatch
    const colours = decision.labels.map((label) => parseColour(classColour(label, dark)));
    const [weak, strong] = dark ? TINTS.dark : TINTS.light;
    const values = new Float64Array(fields.length);
    let pixel = 0;
    for (let r = 0; r < height; r += 1) {
      const y = ((height - r - 0.5) / height) * (ny - 1); // image rows run downwards, y upwards
      const j = Math.min(ny - 2, y | 0);
      const v = y - j;
      for (let q = 0; q < width; q += 1) {
        const x = ((q + 0.5) / width) * (nx - 1);
        const i = Math.min(nx - 2, x | 0);
        const u = x - i;
        const at = j * nx + i;
        let code = codes[at];
        let strength;
        if (this.isMixed(at)) {
          code = this.#code(interpolate(fields, nx, ny, x, y, values));
          strength = decision.strength(values, code & ~AMBIGUOUS);
        } else {
          const low = strengths[at] * (1 - u) + strengths[at + 1] * u;
          const high = strengths[at + nx] * (1 - u) + strengths[at + nx + 1] * u;
          strength = low * (1 - v) + high * v;
        }
        if (code & AMBIGUOUS) this.ambiguous[pixel >> 2] = 1;
        const colour = colours[code & ~AMBIGUOUS];
        data[pixel] = colour[0];
        data[pixel + 1] = colour[1];
        data[pixel + 2] = colour[2];
        data[pixel + 3] = weak + (strong - weak) * strength;
        pixel += 4;
      }
    }
  }
}

const CELL_PIECES = 4; // pieces of a segment: lines then end close to where they meet

/** The zero lines of one cell (corners counter-clockwise), cut into short pieces [[x0, y0], [x1, y1]]. */
function cellSegments(i, j, [a, b, c, d]) {
  const crossing = (edge) => {
    switch (edge) {
      case 0: return [i + a / (a - b), j];
      case 1: return [i + 1, j + b / (b - c)];
      case 2: return [i + d / (d - c), j + 1];
      default: return [i, j + a / (a - d)];
    }
  };
  return cellLinks(a, b, c, d, 0).flatMap(([from, to]) => {
    const [[x0, y0], [x1, y1]] = [crossing(from), crossing(to)];
    const at = (t) => [x0 + (x1 - x0) * t, y0 + (y1 - y0) * t];
    return Array.from({ length: CELL_PIECES }, (_, k) => [at(k / CELL_PIECES), at((k + 1) / CELL_PIECES)]);
  });
}

/** Pieces [[x0, y0], [x1, y1]] joined where they meet: dashes then run along the whole of a line. */
function joinedPaths(pieces) {
  const key = ([x, y]) => `${x.toFixed(6)} ${y.toFixed(6)}`;
  const meeting = new Map();
  for (const piece of pieces) {
    for (const end of piece) meeting.set(key(end), [...(meeting.get(key(end)) ?? []), piece]);
  }
  const used = new Set();
  const beyond = (from) => {
    const path = [];
    for (let at = from; ;) {
      const next = meeting.get(key(at)).find((piece) => !used.has(piece));
      if (!next) return path;
      used.add(next);
      at = key(next[0]) === key(at) ? next[1] : next[0];
      path.push(at);
    }
  };
  return pieces.flatMap((piece) => {
    if (used.has(piece)) return [];
    used.add(piece);
    const [start, end] = piece;
    return [[...beyond(start).reverse(), start, end, ...beyond(end)]];
  });
}

const HATCH_PERIOD = 9; // pixels between two lines, measured along the axis

/** Diagonal lines over the pixels of a raster that are marked, on a canvas as large as the plot. */
class Hatching {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.mask = document.createElement("canvas");
    this.share = 0; // of the plot that is hatched
  }

  /** Lay the lines for `marks` (width x height, rows downwards) over a frame. */
  update(marks, width, height, frame, look) {
    this.share = marks ? marks.reduce((count, mark) => count + mark, 0) / marks.length : 0;
    if (!this.share) return;
    const { canvas, mask } = this;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(mask, { width, height });
    Object.assign(canvas, { width: Math.round(frame.width * ratio), height: Math.round(frame.height * ratio) });
    const image = new ImageData(width, height);
    for (let k = 0; k < marks.length; k += 1) image.data[4 * k + 3] = 255 * marks[k];
    mask.getContext("2d").putImageData(image, 0, 0);
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.drawImage(mask, 0, 0, frame.width, frame.height);
    ctx.globalCompositeOperation = "source-in"; // keeps of the lines what lies over the mask
    ctx.beginPath();
    for (let x = -frame.height; x < frame.width; x += HATCH_PERIOD) {
      ctx.moveTo(x, frame.height);
      ctx.lineTo(x + frame.height, 0);
    }
    ctx.strokeStyle = withAlpha(look.text, look.dark ? 0.62 : 0.55);
    ctx.lineWidth = 1.6;
    ctx.stroke();
  }

  draw(ctx, frame) {
    if (this.share) ctx.drawImage(this.canvas, frame.left, frame.top, frame.width, frame.height);
  }
}

/** The picture of a classifier: regions, decision line and margins, kept until model or view change. */
class RegionPicture {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.hatching = new Hatching();
    this.lattice = null;
    this.key = null;
    this.model = null;
  }

  /** Compute what has changed. `frame` is the plot's rectangle in pixels, `view` its data range. */
  update(model, view, frame, look) {
    const { dark } = look;
    const key = JSON.stringify([view, frame.width, frame.height, dark]);
    if (model === this.model && key === this.key) return;
    [this.model, this.key] = [model, key];
    const [nx, ny] = latticeSize(frame.width, frame.height, model.centres.length);
    const grid = [view, nx, ny, model.kernel, model.centres];
    if (!this.lattice?.serves(...grid)) this.lattice = new Lattice(...grid, this.lattice);
    const fields = model.functions.map((f) => this.lattice.values(f.coef, f.bias));
    const map = new RegionMap(fields, decisionOf(model), nx, ny, model.hatch);
    const [width, height] = [frame.width, frame.height].map((side) => Math.max(1, Math.round(side / RASTER_STEP)));
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const ctx = this.canvas.getContext("2d");
    const image = ctx.createImageData(this.canvas.width, this.canvas.height);
    map.paint(image, dark);
    ctx.putImageData(image, 0, 0);
    this.hatching.update(map.ambiguous, width, height, frame, look);
    this.boundary = map.boundary();
    this.rival = model.rival ? this.#rivalBoundary(model, nx, ny) : [];
    this.margins = levelsOf(model).flatMap((level) => levelPaths(fields[0], nx, ny, level));
  }

  /** Where another rule over the same centres would change its mind. */
  #rivalBoundary({ rival, ...model }, nx, ny) {
    const fields = rival.map((f) => this.lattice.values(f.coef, f.bias));
    return joinedPaths(new RegionMap(fields, decisionOf({ ...model, functions: rival }), nx, ny).boundary());
  }

  /** Draw regions and lines into the frame. */
  draw(ctx, frame, look) {
    ctx.imageSmoothingEnabled = true;
    ctx.imageSmoothingQuality = "low"; // bilinear: at twice the size it looks the same as "high" and costs a fifth
    ctx.drawImage(this.canvas, frame.left, frame.top, frame.width, frame.height);
    this.hatching.draw(ctx, frame);
    const { nx, ny } = this.lattice;
    const place = ([x, y]) => [
      frame.left + (x / (nx - 1)) * frame.width,
      frame.top + (1 - y / (ny - 1)) * frame.height,
    ];
    strokePaths(ctx, this.margins, place, withAlpha(look.text, 0.75), 1.75, [7, 5]);
    strokePaths(ctx, this.rival, place, withAlpha(look.background, 0.8), 5, []);
    strokePaths(ctx, this.rival, place, look.text, 2, [8, 6]);
    strokePaths(ctx, this.boundary, place, look.background, 5.5, []);
    strokePaths(ctx, this.boundary, place, look.text, 2.75, []);
  }
}

/** Stroke several paths at once. */
function strokePaths(ctx, paths, place, colour, width, dash) {
  ctx.save();
  ctx.beginPath();
  for (const path of paths) {
    path.forEach((point, k) => {
      const [x, y] = place(point);
      if (k) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
    });
  }
  ctx.lineCap = dash.length ? "butt" : "round";
  ctx.lineJoin = "round";
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.restore();
}

/** The picture of a regressor: the curve and its tube. */
class TubePicture {
  constructor() {
    this.lattice = null;
    this.key = null;
    this.model = null;
  }

  update(model, view, frame) {
    const key = JSON.stringify([view, frame.width]);
    if (model === this.model && key === this.key) return;
    [this.model, this.key] = [model, key];
    const count = Math.max(2, Math.round(frame.width / 2) + 1);
    const grid = [view, count, 0, model.kernel, model.centres];
    if (!this.lattice?.serves(...grid)) this.lattice = new Lattice(...grid, this.lattice);
    this.values = this.lattice.values(model.functions[0].coef, model.functions[0].bias);
    this.view = view;
  }

  draw(ctx, frame, look) {
    const [, , y0, y1] = this.view;
    const count = this.values.length;
    const epsilon = this.model.epsilon ?? 0;
    const place = (k, y) => [
      frame.left + (k / (count - 1)) * frame.width,
      frame.top + ((y1 - y) / (y1 - y0)) * frame.height,
    ];
    const curve = (shift) => Array.from(this.values, (value, k) => place(k, value + shift));
    const [upper, lower] = [curve(epsilon), curve(-epsilon)];
    const colour = classColour(1, look.dark);
    ctx.save();
    ctx.beginPath();
    [...upper, ...[...lower].reverse()].forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.fillStyle = withAlpha(colour, look.dark ? 0.26 : 0.18);
    ctx.fill();
    ctx.restore();
    const same = (point) => point;
    if (epsilon > 0) strokePaths(ctx, [upper, lower], same, withAlpha(look.text, 0.75), 1.75, [7, 5]);
    strokePaths(ctx, [curve(0)], same, look.background, 6, []);
    strokePaths(ctx, [curve(0)], same, colour, 3.25, []);
  }
}

/** One value of each decision function at a point. */
function decisionValues(model, point) {
  return model.functions.map((f) =>
    model.centres.reduce((sum, centre, i) => (f.coef[i] ? sum + f.coef[i] * kernelValue(model.kernel, centre, point) : sum), f.bias));
}
