// A recorded walk, and the state of the problem at one event of it: the problem moves, and the optimum with it.

const WALK_LOG = 20; // a parameter that grows by more than this factor has a logarithmic axis

/** Position k is the state after k events. `event` says what the next one does (null at the last position). */
class WalkReplay extends Replay {
  /** What svmviz/ui/player.py sends as "walk". */
  get walk() {
    return this.trace.walk;
  }

  /** Which way a multiplier goes is seen from both ends of the walk: one that is learned is 0 at the start. */
  arrange() {
    const { lo, hi, dual } = this;
    this.first = { lo, hi, p: dual.p };
    this.dual = { ...dual, p: [...dual.p], diagonal: [...dual.diagonal] };
    [this.lo, this.hi] = [Float64Array.from(lo), Float64Array.from(hi)];
    const { start, stop, rates } = this.walk;
    const least = (d) => Math.min(lo[d], lo[d] + (stop - start) * (rates.lo?.[d] ?? 0));
    const most = (d) => Math.max(hi[d], hi[d] + (stop - start) * (rates.hi?.[d] ?? 0));
    this.sign = this.sign.map((_, d) => (least(d) < 0 && most(d) <= 0 ? -1 : 1));
    this.tracks = new Map();
    super.arrange();
  }

  /** Objective, and how many are on the margin and at the bound, at every position; there is no gap to close. */
  history() {
    const { columns, length, walk, sign } = this;
    this.values = Float64Array.of(walk.start, ...columns.value);
    this.objective = Float64Array.of(walk.objective, ...columns.objective);
    this.gap = new Float64Array(length + 1).fill(NaN);
    this.lowerBound = this.gap;
    this.counts = { margin: [], bound: [] };
    const sides = Int8Array.from(walk.sides);
    for (let k = 0; k <= length; k += 1) {
      if (k > 0) this.turn(sides, walk.events[k - 1]);
      this.counts.margin.push(sides.filter((side) => side === 0).length);
      this.counts.bound.push(sides.filter((side, d) => side === sign[d]).length);
    }
  }

  // Not private: the constructor of Replay calls what calls these, before private methods are there.
  turn(sides, { changed, sides: after }) {
    changed.forEach((d, c) => { sides[d] = after[c]; });
  }

  /** What a part of the problem, such as "hi", has become of a dual index at a value of the parameter. */
  part(name, d, value) {
    const rate = this.walk.rates[name]?.[d];
    // What is proportional to the parameter stays so, however near to 0 it comes.
    return rate ? this.first[name][d] - this.walk.start * rate + value * rate : this.first[name][d];
  }

  /** The signed multipliers at a position. */
  multipliersAt(position) {
    if (position === 0) return Float64Array.from(this.trace.z0);
    const { walk, values } = this;
    const sides = Int8Array.from(walk.sides);
    for (let k = 0; k < position; k += 1) this.turn(sides, walk.events[k]);
    const value = values[position];
    const z = Float64Array.from(sides, (side, d) => this.part(side === 1 ? "hi" : "lo", d, value));
    const { indices, z: free } = walk.events[position - 1];
    indices.forEach((d, f) => { z[d] = Math.min(Math.max(free[f], this.part("lo", d, value)), this.part("hi", d, value)); });
    return z;
  }

  /** Goes to position k and computes everything there from the trace. */
  seek(k) {
    const { walk, length } = this;
    this.position = Math.min(Math.max(0, Math.round(k)), length);
    this.value = this.values[this.position];
    const { diagonal } = walk.rates; // it is inversely proportional to the parameter
    for (let d = 0; d < this.size; d += 1) {
      if (diagonal) this.dual.diagonal[d] = diagonal[d] / this.value;
      this.lo[d] = this.part("lo", d, this.value);
      this.hi[d] = this.part("hi", d, this.value);
      this.dual.p[d] = this.part("p", d, this.value);
    }
    this.z.set(this.multipliersAt(this.position));
    this.nu = this.position ? walk.events[this.position - 1].nu : walk.nu;
    this.computeGradient();
    this.event = this.position < length ? this.eventHere() : null;
    [this.step, this.pair, this.jump] = [this.event, null, null];
    this.thresholds = this.computeThresholds();
    const most = this.z.reduce((largest, z) => Math.max(largest, Math.abs(z)), 0);
    this.scaleTop = this.ceiling <= 4 * most ? this.ceiling : 1.25 * most || (Number.isFinite(this.ceiling) ? this.ceiling : 1);
  }

  /** The multipliers are drawn up to their bound as it is now. */
  get top() {
    return this.scaleTop;
  }

  set top(_) {} // what holds for the whole of another run

  /** The bound of the multipliers that are not held, here. */
  get ceiling() {
    let most = 0;
    for (let d = 0; d < this.size; d += 1) if (this.walk.sides[d] !== 2) most = Math.max(most, this.bound(d));
    return most || this.bound(0);
  }

  /** The next event: who changes sides, where, and which free multipliers move until then. */
  eventHere() {
    const k = this.position;
    const after = this.multipliersAt(k + 1);
    const free = [...this.walk.events[k].indices, ...this.held].filter((d, place, all) => all.indexOf(d) === place && after[d] !== this.z[d]);
    const d = this.columns.dual_index[k];
    return {
      d: d >= 0 ? d : this.held[0] ?? -1,
      called: d,
      kind: this.walk.kinds[this.columns.event[k]],
      value: this.values[k + 1],
      moves: { indices: free, before: free.map((e) => this.z[e]), after: free.map((e) => after[e]), blocked: [] },
    };
  }

  /** What happens at an event, as short as it goes; a bound is called as its multiplier sees it. */
  eventText(k) {
    const kind = this.walk.kinds[this.columns.event[k]];
    const side = { "to lower bound": -1, "to upper bound": 1 }[kind];
    if (side) return side === this.sign[this.columns.dual_index[k]] ? `to ${this.words.bound}` : "to 0";
    return { "joins margin": "joins", exchange: "swaps in", "condition holds": "holds" }[kind] ?? kind;
  }

  /** The dual indices of the samples that are learned or unlearned. */
  get held() {
    return this.walk.sides.flatMap((side, d) => (side === 2 ? [d] : []));
  }

  /** A multiplier, and the bound it has, at every position. */
  track(d) {
    if (!this.tracks.has(d)) {
      const sides = Int8Array.of(this.walk.sides[d]);
      const sizes = [Math.abs(this.trace.z0[d])];
      this.walk.events.forEach(({ changed, sides: after, indices, z }, k) => {
        const [c, f] = [changed.indexOf(d), indices.indexOf(d)];
        if (c >= 0) sides[0] = after[c];
        const at = f >= 0 ? z[f] : this.part(sides[0] === 1 ? "hi" : "lo", d, this.values[k + 1]);
        sizes.push(Math.abs(at));
      });
      const bounds = Array.from(this.values, (value) => Math.abs(this.part(this.sign[d] < 0 ? "lo" : "hi", d, value)));
      this.tracks.set(d, { sizes, bounds });
    }
    return this.tracks.get(d);
  }

  /** What part of a multiplier that is learned or unlearned is there, 0 to 1. */
  share(d) {
    const { sizes } = this.track(d);
    return sizes[this.position] / (Math.max(...sizes) || 1);
  }

  /** The parameters of the machine as they are here. */
  modelHere(model) {
    return { ...model, parameters: { ...model.parameters, [this.walk.parameter]: this.value } };
  }

  /** The parameter and its value in words. */
  placeText(value, digits = 4) {
    const { sign, isPart } = this.walk;
    return isPart ? `${readableNumber(100 * value, digits)} % ${sign}` : `${sign} = ${readableNumber(value, digits)}`;
  }

  /** The parameter along an axis. */
  axis(left, right) {
    const [low, high] = [Math.min(...this.values), Math.max(...this.values)];
    const Scale = low > 0 && high / low >= WALK_LOG ? LogScale : LinearScale;
    return new Scale(low, high > low ? high : low + 1, left, right);
  }

  /** The position whose event is nearest to a place on such an axis. */
  positionNear(axis, pixel) {
    let best = 0;
    this.values.forEach((value, k) => {
      if (Math.abs(axis.at(value) - pixel) < Math.abs(axis.at(this.values[best]) - pixel)) best = k;
    });
    return best;
  }

  /** Values that are linear between the events, at every other pixel of an axis and at the events, from left to right. */
  dense(ys, axis, left, right) {
    const order = Array.from(this.values, (_, k) => k);
    if (this.values[0] > this.values[this.length]) order.reverse();
    const [xs, values] = [[], []];
    order.forEach((k, place) => {
      const before = order[place - 1];
      if (place > 0) {
        const [from, to] = [axis.at(this.values[before]), axis.at(this.values[k])];
        for (let pixel = Math.max(left, from + 2); pixel < Math.min(right, to); pixel += 2) {
          const value = axis.invert(pixel);
          const part = (value - this.values[before]) / (this.values[k] - this.values[before]);
          xs.push(value);
          values.push(ys[before] + part * (ys[k] - ys[before]));
        }
      }
      xs.push(this.values[k]);
      values.push(ys[k]);
    });
    return { xs, values };
  }
}

/** The replay of a trace: of a run, or of a walk. */
function replayOf(trace, ...rest) {
  return new (trace.walk ? WalkReplay : Replay)(trace, ...rest);
}
