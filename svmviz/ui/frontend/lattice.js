// Decision functions on a lattice, and their level lines by marching squares.

const LATTICE_BUDGET = 3e6; // lattice points x centres
const FINEST_CELL = 5; // pixels; level lines are interpolated, so they stay smooth

/** `count` numbers from `from` to `to`, both included. */
function linspace(from, to, count) {
  return Float64Array.from({ length: count }, (_, k) => from + ((to - from) * k) / Math.max(1, count - 1));
}

const NEGLIGIBLE = 1e-12; // of the largest coefficient

function placeKey(view, nx, ny) {
  return [...view, nx, ny].join();
}

/** Sums of kernels on a lattice. What does not depend on the coefficients is computed once. */
class Lattice {
  /**
   * @param {number[]} view [x0, x1, y0, y1]; with ny = 0 a lattice on the x axis only
   * @param {number} nx @param {number} ny number of lattice points along x and y
   * @param {object} kernel @param {number[][]} centres
   * @param {?Lattice} known an earlier lattice; what is the same is taken over from it
   */
  constructor(view, nx, ny, kernel, centres, known = null) {
    this.nx = nx;
    this.ny = ny;
    this.place = placeKey(view, nx, ny);
    this.kernel = kernel;
    this.centres = centres;
    this.xs = linspace(view[0], view[1], nx);
    this.ys = ny > 0 ? linspace(view[2], view[3], ny) : Float64Array.of(0);
    const factor = factorKernel(kernel);
    if (factor) this.#prepareFactors(factor);
    else if (kernel.name !== "linear") this.#prepareColumns(known, JSON.stringify([view, nx, ny, kernel]));
  }

  /** Whether this is the lattice for these values: a run that plays changes only the coefficients. */
  serves(view, nx, ny, kernel, centres) {
    return this.centres === centres && this.kernel === kernel && this.place === placeKey(view, nx, ny);
  }

  /** A kernel that is a product over coordinates needs no value a lattice point, only its factors along x and y. */
  #prepareFactors(factor) {
    this.alongX = this.centres.map(([c]) => this.xs.map((x) => factor(x - c)));
    this.alongY = this.centres.map(([, c = 0]) => this.ys.map((y) => factor(y - c)));
  }

  #prepareColumns(known, key) {
    const earlier = known?.key === key ? known.columnOf : new Map();
    this.key = key;
    this.columnOf = new Map();
    this.columns = this.centres.map((centre) => {
      const name = centre.join();
      const column = this.columnOf.get(name) ?? earlier.get(name) ?? kernelColumn(this.kernel, this.xs, this.ys, centre);
      this.columnOf.set(name, column);
      return column;
    });
  }

  /** The decision function sum_i coef_i k(centre_i, .) + bias at every lattice point, rows of equal y. */
  values(coef, bias) {
    const out = new Float64Array(this.xs.length * this.ys.length).fill(bias);
    if (this.alongX) this.#addProducts(out, coef);
    else if (this.columns) this.#addColumns(out, coef);
    else this.#addPlane(out, coef);
    return out;
  }

  #addProducts(out, coef) {
    const { nx, ys, alongX, alongY } = this;
    const negligible = NEGLIGIBLE * coef.reduce((most, c) => Math.max(most, Math.abs(c)), 0);
    for (let j = 0; j < ys.length; j += 1) {
      const row = j * nx;
      for (let i = 0; i < alongX.length; i += 1) {
        const weight = coef[i] * alongY[i][j];
        if (Math.abs(weight) <= negligible) continue;
        const factors = alongX[i];
        for (let k = 0; k < nx; k += 1) out[row + k] += weight * factors[k];
      }
    }
  }

  #addColumns(out, coef) {
    this.columns.forEach((column, i) => {
      const c = coef[i];
      if (!c) return;
      for (let k = 0; k < out.length; k += 1) out[k] += c * column[k];
    });
  }

  /** A sum of linear kernels is one plane. */
  #addPlane(out, coef) {
    let [slopeX, slopeY] = [0, 0];
    this.centres.forEach(([x, y = 0], i) => {
      slopeX += coef[i] * x;
      slopeY += coef[i] * y;
    });
    let at = 0;
    for (const y of this.ys) for (const x of this.xs) out[at++] += slopeX * x + slopeY * y;
  }
}

/** Lattice points along each side for an area in pixels: as fine as the budget for `centres` allows. */
function latticeSize(width, height, centres) {
  const cells = Math.min(LATTICE_BUDGET / Math.max(1, centres), (width / FINEST_CELL) * (height / FINEST_CELL));
  const cell = Math.sqrt((width * height) / Math.max(cells, 900));
  return [Math.max(2, Math.round(width / cell) + 1), Math.max(2, Math.round(height / cell) + 1)];
}

// Marching squares. Lattice edges carry numbers: 2 * index to the right of a lattice point, 2 * index + 1 upwards.

/** Where the level crosses an edge, by linear interpolation, in lattice coordinates. */
function edgeCrossing(values, nx, level, edge) {
  const index = edge >> 1;
  const upward = edge & 1;
  const from = values[index];
  const to = values[upward ? index + nx : index + 1];
  const t = to === from ? 0.5 : (level - from) / (to - from);
  const i = index % nx;
  const j = (index - i) / nx;
  return upward ? [i, j + t] : [i + t, j];
}

/** The pairs of a cell's edges (0 bottom, 1 right, 2 top, 3 left) that the level line joins. */
const CELL_LINKS = [
  [], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], null, [[0, 2]], [[3, 2]],
  [[2, 3]], [[0, 2]], null, [[1, 2]], [[1, 3]], [[0, 1]], [[0, 3]], [],
];

/** The links of an ambiguous cell: the mean of its corners decides which corners belong together. */
function saddleLinks(code, meanInside) {
  return (code === 5) === meanInside ? [[0, 1], [2, 3]] : [[3, 0], [1, 2]];
}

/** The pairs of edges that the level line joins in a cell with corner values a, b, c, d (counter-clockwise). */
function cellLinks(a, b, c, d, level) {
  const code = (a > level) | ((b > level) << 1) | ((c > level) << 2) | ((d > level) << 3);
  return CELL_LINKS[code] ?? saddleLinks(code, (a + b + c + d) / 4 > level);
}

/** For every crossed edge the one or two edges that the level line reaches next. */
function levelLinks(values, nx, ny, level) {
  const links = new Map();
  const link = (a, b) => (links.has(a) ? links.get(a).push(b) : links.set(a, [b]));
  for (let j = 0; j < ny - 1; j += 1) {
    for (let i = 0; i < nx - 1; i += 1) {
      const at = j * nx + i;
      const pairs = cellLinks(values[at], values[at + 1], values[at + nx + 1], values[at + nx], level);
      if (pairs.length === 0) continue;
      const edges = [2 * at, 2 * (at + 1) + 1, 2 * (at + nx), 2 * at + 1];
      for (const [from, to] of pairs) {
        link(edges[from], edges[to]);
        link(edges[to], edges[from]);
      }
    }
  }
  return links;
}

/** Follow the links from one edge until the line ends or closes. */
function followLine(links, start, seen) {
  const line = [start];
  seen.add(start);
  for (let next = start; next !== undefined;) {
    next = links.get(next).find((edge) => !seen.has(edge));
    if (next === undefined) break;
    seen.add(next);
    line.push(next);
  }
  const closed = line.length > 2 && links.get(line.at(-1)).includes(start);
  return closed ? [...line, start] : line;
}

/**
 * Level lines as connected paths (dashes need paths, not loose segments).
 * @returns {number[][][]} paths of [x, y] in lattice coordinates
 */
function levelPaths(values, nx, ny, level) {
  const links = levelLinks(values, nx, ny, level);
  const seen = new Set();
  const ends = [...links.keys()].filter((edge) => links.get(edge).length === 1);
  const lines = [];
  for (const edge of [...ends, ...links.keys()]) {
    if (!seen.has(edge)) lines.push(followLine(links, edge, seen));
  }
  return lines.map((line) => line.map((edge) => edgeCrossing(values, nx, level, edge)));
}
