// Reduced convex hulls in the plane and their nearest points: the browser's half of svmviz/hulls.py, function for
// function, so that hulls follow a slider or a dragged point at once. Tests hold one against the other.

const HULL_TOL = 1e-12; // what a hull may be off by, and what is no corner, in units of the spread of the points
const HULL_EXACT = 500; // points up to which that is the usual tolerance: beyond, hulls have thousands of corners
const HULL_ROUGH_TOL = 1e-6; // the usual one then: a thousandth of a pixel
const HULL_EPS = 2 ** -52;
const HULL_FIRST_DIRECTIONS = 32;

/** The k-th smallest of the first n numbers (k from 0); changes their order. */
function nthSmallest(values, n, k) {
  let [low, high] = [0, n - 1];
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i] < pivot) i += 1;
      while (values[j] > pivot) j -= 1;
      if (i > j) break;
      const held = values[i];
      values[i] = values[j];
      values[j] = held;
      i += 1;
      j -= 1;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k];
}

/** How mu spreads a weight of 1 over n points: to the first `full` mu each, to the next the rest. */
function hullReduction(mu, n) {
  if (!(mu > 0) || mu * n < 1 - 1e-12) throw new RangeError(`mu = ${mu} is too small for ${n} points`);
  const value = Math.min(Math.max(mu, 1 / n), 1);
  const full = Math.min(Math.ceil((1 / value) * (1 - 4 * HULL_EPS)) - 1, n - 1);
  return { mu: value, full, rest: Math.min(1 - full * value, value) };
}

/** The least power of two above a size, as numpy's frexp gives it; 1 for 0. */
function binaryScale(size) {
  if (size === 0) return 1;
  let exponent = Math.floor(Math.log2(size)) + 1;
  while (2 ** exponent <= size) exponent += 1;
  while (2 ** (exponent - 1) > size) exponent -= 1;
  return 2 ** Math.max(exponent, -1000);
}

/** Points moved to the middle of their box and scaled to about -1..1 along each coordinate. */
class HullFrame {
  constructor(points) {
    const n = points.length;
    this.n = n;
    this.centre = [0, 0];
    this.scale = [1, 1];
    this.local = [new Float64Array(n), new Float64Array(n)];
    for (const axis of [0, 1]) {
      let [least, most] = [Infinity, -Infinity];
      for (const point of points) {
        least = Math.min(least, point[axis]);
        most = Math.max(most, point[axis]);
      }
      const centre = least + (most - least) / 2;
      const scale = binaryScale(Math.max(most - centre, centre - least));
      this.centre[axis] = centre;
      this.scale[axis] = scale;
      for (let i = 0; i < n; i += 1) this.local[axis][i] = (points[i][axis] - centre) / scale;
    }
    this.scores = new Float64Array(n);
    this.sorted = new Float64Array(n);
  }

  /** The tolerance along each local coordinate, or what rounding makes of the restored ones if that is more. */
  tolerance(tol) {
    return [0, 1].map((axis) => Math.max(tol, (4 * HULL_EPS * Math.abs(this.centre[axis])) / this.scale[axis]));
  }

  restore([x, y]) {
    return [this.centre[0] + x * this.scale[0], this.centre[1] + y * this.scale[1]];
  }

  /** Score every point in a direction; returns what the points need to have a weight, and those on it their share. */
  #threshold({ mu, full }, dx, dy) {
    const { n, scores, sorted, local: [xs, ys] } = this;
    for (let i = 0; i < n; i += 1) scores[i] = sorted[i] = dx * xs[i] + dy * ys[i];
    const threshold = nthSmallest(sorted, n, n - 1 - full);
    let [above, level] = [0, 0];
    for (let i = 0; i < n; i += 1) {
      if (scores[i] > threshold) above += 1;
      else if (scores[i] === threshold) level += 1;
    }
    return { threshold, share: Math.min((1 - mu * above) / level, mu) };
  }

  /** Weights of the points that reach farthest in a direction; those at the threshold share what is left. */
  weigh(reduction, dx, dy) {
    const { threshold, share } = this.#threshold(reduction, dx, dy);
    return Float64Array.from(this.scores, (score) => (score > threshold ? reduction.mu : score === threshold ? share : 0));
  }

  /** A point of the reduced hull that lies farthest in a direction, followed by that direction. */
  farthest(reduction, dx, dy) {
    const { n, scores, local: [xs, ys] } = this;
    const { threshold, share } = this.#threshold(reduction, dx, dy);
    let [x, y, levelX, levelY] = [0, 0, 0, 0];
    for (let i = 0; i < n; i += 1) {
      if (scores[i] > threshold) {
        x += xs[i];
        y += ys[i];
      } else if (scores[i] === threshold) {
        levelX += xs[i];
        levelY += ys[i];
      }
    }
    return [reduction.mu * x + share * levelX, reduction.mu * y + share * levelY, dx, dy];
  }
}

/**
 * The reduced convex hull of points in the plane.
 * @param {number[][]} points [x, y, ...] each, one at least; may coincide or lie on a line
 * @param {number} mu largest weight of a point, from 1/n (the mean alone) to 1 (the convex hull)
 * @param {number} tol what the hull may be off by, relative to the spread of the points
 * @returns {ReducedHull}
 */
function reducedHull(points, mu, tol = points.length > HULL_EXACT ? HULL_ROUGH_TOL : HULL_TOL) {
  return new ReducedHull(points, mu, Math.max(tol, HULL_TOL));
}

class ReducedHull {
  /** vertices: [x, y] counter-clockwise, none twice; one for a point, two for a segment. */
  constructor(points, mu, tol) {
    this.points = points;
    this.frame = new HullFrame(points);
    this.reduction = hullReduction(mu, points.length);
    this.mu = this.reduction.mu;
    this.corners = this.#grow(tol);
    this.vertices = this.corners.map((corner) => this.frame.restore(corner));
    this.known = new Map();
  }

  /** An inner polygon grows: each edge is asked once how far the hull reaches beyond it. */
  #grow(tol) {
    const { frame, reduction } = this;
    const first = Array.from({ length: HULL_FIRST_DIRECTIONS }, (_, k) => {
      const angle = (k * 2 * Math.PI) / HULL_FIRST_DIRECTIONS;
      return frame.farthest(reduction, Math.cos(angle), Math.sin(angle));
    });
    const grown = [];
    first.forEach((start, k) => {
      grown.push(start);
      // Ends of the edges still to ask; the next one is the last.
      const ends = [first[(k + 1) % first.length]];
      while (ends.length) {
        const [from, to] = [grown[grown.length - 1], ends[ends.length - 1]];
        const found = this.#beyond(from, to, tol);
        if (found) ends.push(found);
        else grown.push(ends.pop());
      }
      grown.pop(); // the start of the next one
    });
    return neededCorners(grown, frame.tolerance(tol));
  }

  /** The point of the hull that reaches farthest beyond an edge, or null when none does. */
  #beyond(from, to, tol) {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (length <= tol) return null;
    const [nx, ny] = [(to[1] - from[1]) / length, (from[0] - to[0]) / length];
    const found = this.frame.farthest(this.reduction, nx, ny);
    const gain = Math.min(
      nx * (found[0] - to[0]) + ny * (found[1] - to[1]),
      nx * (found[0] - from[0]) + ny * (found[1] - from[1]),
    );
    return gain > tol ? found : null;
  }

  /** Weights on the points that make vertex k. */
  weights(k) {
    // Asked again in the direction in which it was found.
    if (!this.known.has(k)) this.known.set(k, this.frame.weigh(this.reduction, ...this.corners[k].slice(2)));
    return this.known.get(k);
  }

  /** The mean of the points, as the foot of nothing: made with equal weights. */
  mean() {
    const { frame, points } = this;
    const middle = frame.local.map((values) => values.reduce((sum, value) => sum + value, 0) / points.length);
    return { at: frame.restore(middle), weights: new Float64Array(points.length).fill(1 / points.length) };
  }

  /** Weights on the points that make a combination of vertices: pairs [vertex, share]. */
  combined(shares) {
    const sum = new Float64Array(this.points.length);
    for (const [k, share] of shares) this.weights(k).forEach((weight, i) => { sum[i] += share * weight; });
    return sum;
  }
}

/** A polygon's corners without those within tol, along each coordinate, of the segment between their neighbours. */
function neededCorners(corners, [tolX, tolY]) {
  let kept = corners;
  while (kept.length > 1) {
    const count = kept.length;
    const needless = kept.map((here, i) => {
      const [before, after] = [kept[(i + count - 1) % count], kept[(i + 1) % count]];
      const [ex, ey] = [after[0] - before[0], after[1] - before[1]];
      const along = fractionAlong(before, ex, ey, here[0], here[1]);
      return Math.abs(here[0] - before[0] - along * ex) <= tolX && Math.abs(here[1] - before[1] - along * ey) <= tolY;
    });
    // Never two neighbours at once: each may be needless only because of the other.
    const dropped = needless.map(() => false);
    needless.forEach((isNeedless, i) => {
      const beside = (i > 0 && dropped[i - 1]) || (i === count - 1 && dropped[0]);
      dropped[i] = isNeedless && !beside;
    });
    if (!dropped.includes(true)) break;
    kept = kept.filter((_, i) => !dropped[i]);
  }
  return kept;
}

/** Where on a segment, from 0 to 1, the point nearest to (x, y) lies. */
function fractionAlong(start, ex, ey, x, y) {
  const length = ex * ex + ey * ey;
  const along = length > 0 ? ((x - start[0]) * ex + (y - start[1]) * ey) / length : 0;
  return Math.min(Math.max(along, 0), 1);
}

/**
 * The points of two reduced hulls that are nearest to each other, exactly.
 * @param {ReducedHull} a @param {ReducedHull} b
 * @returns {{a: number[], b: number[], distance: number, overlap: boolean, weightsA: Float64Array, weightsB: Float64Array}}
 *   where the hulls overlap, a and b are one point of both; the weights are worked out when they are asked for
 */
function nearestPoints(a, b) {
  const pairs = differenceCorners(a.vertices, b.vertices);
  const corners = pairs.map(([i, j]) => [a.vertices[i][0] - b.vertices[j][0], a.vertices[i][1] - b.vertices[j][1]]);
  const all = [...a.vertices, ...b.vertices];
  const { scale } = new HullFrame(all);
  // Whether they meet does not depend on the units of the coordinates; how far they are apart does.
  const touching = [0, 1].map((axis) => {
    const largest = all.reduce((size, vertex) => Math.max(size, Math.abs(vertex[axis])), 0);
    return HULL_TOL + (4 * HULL_EPS * largest) / scale[axis];
  });
  const common = originShares(corners.map(([x, y]) => [x / scale[0], y / scale[1]]), touching);
  const unit = Math.max(...scale);
  const shares = common ?? originFoot(corners.map(([x, y]) => [x / unit, y / unit])).shares;
  const [sharesA, sharesB] = [0, 1].map((side) => shares.map(([k, share]) => [pairs[k][side], share]));
  let [pointA, pointB] = [mixed(a.vertices, sharesA), mixed(b.vertices, sharesB)];
  if (common) pointA = pointB = [(pointA[0] + pointB[0]) / 2, (pointA[1] + pointB[1]) / 2];
  return {
    a: pointA,
    b: pointB,
    distance: Math.hypot(pointA[0] - pointB[0], pointA[1] - pointB[1]),
    overlap: common !== null,
    get weightsA() { return a.combined(sharesA); },
    get weightsB() { return b.combined(sharesB); },
  };
}

function mixed(vertices, shares) {
  return shares.reduce(([x, y], [k, share]) => [x + share * vertices[k][0], y + share * vertices[k][1]], [0, 0]);
}

/** Corners a[i] - b[j], counter-clockwise, of all differences of two convex polygons, as pairs [i, j]. */
function differenceCorners(a, b) {
  const lowest = (polygon, sign) => polygon.reduce((best, [x, y], k) => {
    const [bx, by] = polygon[best];
    return sign * (y - by) < 0 || (y === by && sign * (x - bx) < 0) ? k : best;
  }, 0);
  const [firstA, firstB] = [lowest(a, 1), lowest(b, -1)];
  const [anglesA, anglesB] = [edgeAngles(a, firstA, 1), edgeAngles(b, firstB, -1)];
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < anglesA.length || j < anglesB.length) {
    // The corner before each edge; the last edge leads back to the first corner.
    pairs.push([(firstA + i) % a.length, (firstB + j) % b.length]);
    if (j >= anglesB.length || (i < anglesA.length && anglesA[i] <= anglesB[j])) i += 1;
    else j += 1;
  }
  return pairs.length ? pairs : [[firstA, firstB]];
}

/** Directions of the edges of sign * polygon in 0..2 pi, never falling, from its lowest corner on. */
function edgeAngles(polygon, first, sign) {
  const count = polygon.length;
  if (count === 1) return [];
  let largest = -Infinity;
  return polygon.map((_, k) => {
    const [from, to] = [polygon[(first + k) % count], polygon[(first + k + 1) % count]];
    const angle = Math.atan2(sign * (to[1] - from[1]), sign * (to[0] - from[0]));
    largest = Math.max(largest, angle < 0 ? angle + 2 * Math.PI : angle);
    return largest;
  });
}

/** The point of a polygon's edges nearest to the origin: shares of the corners in it, itself, its edge. */
function originFoot(corners) {
  let best = null;
  let least = Infinity;
  corners.forEach((corner, k) => {
    const next = corners[(k + 1) % corners.length];
    const [ex, ey] = [next[0] - corner[0], next[1] - corner[1]];
    const along = fractionAlong(corner, ex, ey, 0, 0);
    const foot = [corner[0] + along * ex, corner[1] + along * ey];
    const distance = Math.hypot(...foot);
    if (distance < least) [least, best] = [distance, { foot, edge: k, along }];
  });
  return { ...best, distance: least, shares: edgeShares(corners.length, best.edge, best.along) };
}

/** Shares of the corners of a polygon in a point of an edge, a fraction along it. */
function edgeShares(count, edge, along) {
  return [[edge, 1 - along], [(edge + 1) % count, along]].filter(([, share]) => share > 0);
}

/** Shares of the corners of a convex polygon that make the origin, or null when it is outside. */
function originShares(corners, touching) {
  const { foot, edge, distance, shares } = originFoot(corners);
  if (Math.abs(foot[0]) <= touching[0] && Math.abs(foot[1]) <= touching[1]) return shares;
  const towards = [foot[0] / distance, foot[1] / distance];
  if (isBeyondOrigin(corners, towards, edge)) return null;
  // The line from the foot through the origin leaves the polygon on the other side.
  let far = null;
  let lowest = Infinity;
  corners.forEach(([x, y], k) => {
    const [u, v] = corners[(k + 1) % corners.length];
    const [aside, following] = [y * towards[0] - x * towards[1], v * towards[0] - u * towards[1]];
    if (aside * following > 0 || aside === following) return;
    const along = aside / (aside - following);
    const height = (x + along * (u - x)) * towards[0] + (y + along * (v - y)) * towards[1];
    if (height < lowest) [lowest, far] = [height, { edge: k, along }];
  });
  const back = -lowest;
  if (!far || back <= 0) return shares;
  const whole = back + distance;
  const opposite = edgeShares(corners.length, far.edge, far.along);
  return [...shares.map(([k, share]) => [k, (share * back) / whole]), ...opposite.map(([k, share]) => [k, (share * distance) / whole])];
}

/** Whether a line separates all corners from the origin; near corners have better lines than the foot's direction. */
function isBeyondOrigin(corners, towards, edge) {
  const count = corners.length;
  const lines = [towards];
  for (let k = edge - 8; k <= edge + 8; k += 1) {
    const from = corners[(((k % count) + count) % count)];
    const to = corners[((((k + 1) % count) + count) % count)];
    const [x, y] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(x, y) || 1;
    lines.push([-y / length, x / length]);
  }
  return lines.some(([nx, ny]) => corners.every(([x, y]) => nx * x + ny * y > 0));
}

/**
 * Prototypes of any number of reduced hulls, with the least sum of weight times squared distance: All-Distances in
 * the plane. In turn each goes to the place of its hull that is nearest to the weighted mean of the others; one without
 * links is the mean of its points, as in svmviz/machines/ad_svm.py.
 * @param {ReducedHull[]} hulls @param {number[][]} links weights between them
 * @returns {{at: number[], weights: Float64Array}[]}
 */
function nearPrototypes(hulls, links, rounds = 400) {
  const totals = links.map((row, p) => row.reduce((sum, weight, q) => sum + (q === p ? 0 : weight), 0));
  const placed = hulls.map((hull, p) => {
    if (!totals[p]) return hull.mean();
    const mean = hull.vertices.reduce(([x, y], [u, v]) => [x + u, y + v], [0, 0]).map((sum) => sum / hull.vertices.length);
    return { at: mean, ...footOn(hull.vertices, mean) };
  });
  const size = Math.max(...hulls.flatMap((hull) => hull.frame.scale));
  for (let round = 0; round < rounds; round += 1) {
    let moved = 0;
    placed.forEach((own, p) => {
      const total = totals[p];
      if (!total) return;
      const target = [0, 1].map((axis) => placed.reduce((sum, { at }, q) => sum + (q === p ? 0 : links[p][q] * at[axis]), 0) / total);
      const found = footOn(hulls[p].vertices, target);
      moved = Math.max(moved, Math.hypot(found.at[0] - own.at[0], found.at[1] - own.at[1]));
      placed[p] = found;
    });
    if (moved <= 1e-10 * size) break;
  }
  return placed.map(({ at, shares, weights }, p) => ({ at, get weights() { return weights ?? hulls[p].combined(shares); } }));
}

/** The point of a convex polygon, its inside included, nearest to a place; shares of the vertices that make it. */
function footOn(vertices, [x, y]) {
  const moved = vertices.map(([u, v]) => [u - x, v - y]);
  const size = moved.reduce((most, [u, v]) => Math.max(most, Math.abs(u), Math.abs(v)), 0) || 1;
  const inside = vertices.length > 2 ? originShares(moved, [HULL_TOL * size, HULL_TOL * size]) : null;
  const shares = inside ?? originFoot(moved).shares;
  return { at: mixed(vertices, shares), shares };
}
