// The geometry of a machine: hulls, prototypes and their links on the Board, live under a slider for mu.

const MU_STEPS = 500; // of the slider, by the logarithm of mu
const MU_DIGITS = 4;
const POINTED_REACH = 10; // pixels round a vertex
const LABELLED_LINKS = 6; // most links that say their length all at once
const CLEAR_LINKS = 15; // most that are drawn in full

const GEOMETRY_MARKUP = `
  <div class="geometry-board"></div>
  <div class="geometry-plane" hidden></div>
  <div class="geometry-side">
    <div class="geometry-made" aria-live="polite"></div>
    <div class="geometry-table" hidden></div>
    <div class="geometry-words" aria-live="polite"><div></div></div>
  </div>
  <div class="geometry-bar">
    <label class="geometry-number">μ <input type="text" inputmode="decimal" data-value="mu" aria-label="μ, the largest weight of a sample"></label>
    <div class="geometry-track">
      <input type="range" min="0" max="${MU_STEPS}" step="1" value="0" aria-label="μ">
      <button type="button" class="geometry-tick" hidden></button>
      <span class="geometry-end geometry-low"></span><span class="geometry-end geometry-high"></span>
    </div>
    <label class="geometry-number" data-nu>ν <input type="text" inputmode="decimal" data-value="nu" aria-label="ν of the same machine"></label>
    <div class="geometry-hint" role="status"></div>
  </div>`;

/**
 * What a geometry is at one value of mu.
 * @param {object} meta meta.geometry from Python, see svmviz/ui/geometry.py
 * @param {{id: number, row: number, x: number, y: number, label: number, number: number, group: number}[]} samples in
 *   the plane in which the hulls are drawn; row is their number in the lists of meta, -1 where they are new
 * @param {number} wanted mu, taken into its feasible range
 * @param {number[][]} links weights between the prototypes
 * @returns {?object} null when a prototype has no sample
 */
function geometryAt(meta, samples, wanted, links) {
  const groups = meta.prototypes.map((_, g) => samples.filter((sample) => sample.group === g));
  const counts = groups.map((group) => group.length);
  if (!counts.length || counts.includes(0)) return null;
  const smallest = 1 / Math.min(...counts);
  const least = meta.least ?? smallest; // clusters would be others at another mu
  const mu = Math.min(Math.max(wanted, least), 1);
  const hulls = groups.map((group) => reducedHull(group.map(({ x, y }) => [x, y]), Math.max(mu, smallest)));
  const solved = meta.linear ? solvedHere(hulls, links) : solvedByPython(groups, meta, mu);
  const prototypes = meta.prototypes.map((prototype, g) => ({ ...prototype, at: solved.places[g], weights: solved.weights[g] }));
  const status = new Map();
  groups.forEach((group, g) => group.forEach((sample, k) => {
    const weight = prototypes[g].weights[k];
    const bound = weight >= solved.mu * (1 - 1e-6);
    if (weight > 1e-6 * solved.mu) status.set(sample.id, bound ? POINT_STATUS.BOUND : POINT_STATUS.FREE);
  }));
  return { mu, least, groups, counts, hulls, prototypes, status, links, ...solved };
}

/** With the linear kernel the plane of the hulls is that of the samples: everything follows from it. */
function solvedHere(hulls, links) {
  const mu = Math.min(...hulls.map((hull) => hull.mu));
  if (hulls.length === 2 && links[0][1] > 0) {
    const near = nearestPoints(hulls[0], hulls[1]);
    const distances = [[0, near.distance], [near.distance, 0]];
    return { mu, places: [near.a, near.b], weights: [near.weightsA, near.weightsB], distances, overlap: near.overlap };
  }
  const placed = nearPrototypes(hulls, links);
  const least = leastDistance(hulls);
  const distances = placed.map((p) => placed.map((q) => {
    const distance = Math.hypot(p.at[0] - q.at[0], p.at[1] - q.at[1]);
    return distance < least ? 0 : distance;
  }));
  const joined = distances.flatMap((row, p) => row.filter((_, q) => links[p][q] > 0));
  const overlap = joined.length > 0 && Math.max(...joined) === 0;
  return { mu, places: placed.map(({ at }) => at), weights: placed.map(({ weights }) => weights), distances, overlap };
}

/** Prototypes that are nearer to each other are one. */
function leastDistance(hulls) {
  return COINCIDE * Math.max(...hulls.flatMap((hull) => hull.frame.scale));
}

/** With another kernel Python's last solution stands until the next one comes. */
function solvedByPython(groups, meta, mu) {
  const weights = groups.map((group, g) => group.map(({ row }) => (row < 0 ? 0 : meta.weights[g][row])));
  const overlap = meta.critical === "always" || (typeof meta.critical === "number" && mu >= meta.critical);
  return { mu: meta.mu, places: meta.plane.prototypes, weights, distances: meta.distances, overlap };
}

class GeometryView {
  /**
   * @param {HTMLElement} host
   * @param {{onEdit?: (points: number[][]) => void, onMu?: (mu: number) => void, onWeights?: (weights: number[][]) => void}}
   *   callbacks `onEdit` after every edit on the Board, `onMu` with every mu that the person chooses, `onWeights` with
   *   the weights [class, class, weight] of all pairs after every change
   */
  constructor(host, { onEdit = () => {}, onMu = () => {}, onWeights = () => {} } = {}) {
    Object.assign(this, { host, onMu, onWeights });
    this.weights = new Map(); // "a b" -> weight of the link between two classes
    this.current = false; // whether Python has answered all that was done here
    this.focus = null; // "a b", the pair of classes that is looked at
    this.meta = null;
    this.rows = new Map(); // id of a point -> its number in Python's lists
    this.wanted = 1;
    this.untold = false; // whether Python has yet to hear of this.wanted
    this.pythonMu = null;
    this.state = null;
    this.hint = ""; // one sentence about what was typed
    this.pointer = null; // {where: "board" | "plane", at}
    this.pointed = null;
    this.updates = 0;
    host.innerHTML = `<div class="geometry-root"><div class="geometry">${GEOMETRY_MARKUP}</div></div>`;
    this.root = host.querySelector(".geometry");
    this.board = new Board(this.find(".geometry-board"), {
      onEdit: (points) => {
        this.current = false;
        this.hint = "";
        this.refresh();
        onEdit(points);
      },
    });
    this.board.setUnderlay((ctx, place) => paintHulls(ctx, this.board.look, place, this.onBoard()));
    this.board.setOverlay((ctx, place, board) => paintPrototypes(ctx, board.look, place, board.frame, this.onBoard()));
    this.plane = new FeaturePlane(this.find(".geometry-plane"), { onPointer: (at) => this.point(at && { where: "plane", at }) });
    this.table = new DistanceTable(this.find(".geometry-table"), {
      onWeight: (pair, weight) => this.#weigh(new Map([[pair, weight]])),
      onReset: () => this.#weigh(new Map(this.meta.pairs.map(([a, b]) => [pairKey(a, b), 1]))),
      onFocus: (pair) => this.#look(pair),
    });
    this.slider = this.find(".geometry-track input");
    this.tick = this.find(".geometry-tick");
    [this.muInput, this.nuInput] = [this.find("[data-value=mu]"), this.find("[data-value=nu]")];
    this.#listen();
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  #listen() {
    const { canvas } = this.board;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      this.point({ where: "board", at: [event.clientX - box.left, event.clientY - box.top] });
    };
    canvas.addEventListener("pointermove", place);
    canvas.addEventListener("pointerdown", place);
    canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.point(null));
    this.slider.addEventListener("input", () => {
      this.find(".geometry-words").setAttribute("aria-live", "off"); // nobody wants to hear every value on the way
      // What is worked out here need not be told on the way: answers would only take time from the drawing.
      this.choose(this.#muAt(Number(this.slider.value) / MU_STEPS), !this.meta.linear || Boolean(this.meta.groups));
    });
    this.slider.addEventListener("change", () => {
      this.find(".geometry-words").setAttribute("aria-live", "polite");
      this.#tell();
    });
    // Dragged back to where it stood, a slider has not changed.
    for (const end of ["pointerup", "pointercancel"]) this.slider.addEventListener(end, () => this.untold && this.#tell());
    this.tick.addEventListener("click", () => this.choose(this.meta.critical));
    this.muInput.addEventListener("change", () => this.#typed(this.muInput.value, (mu) => mu));
    this.nuInput.addEventListener("change", () => this.#typed(this.nuInput.value, (nu) => 2 / (nu * this.samples)));
  }

  /** Samples that take part. */
  get samples() {
    return this.state ? this.state.counts.reduce((sum, count) => sum + count, 0) : 0;
  }

  // ---- what comes from Python -------------------------------------------------------------------

  /**
   * Take new data; the Board has its points and model already.
   * @param {{meta: object, ids: ?number[], settled: boolean, weightsSettled?: boolean, current?: boolean}} data
   *   ids of the points that meta.geometry is about, as of then; settled: no mu is on its way to Python;
   *   weightsSettled: no weights are; current: nothing at all is
   */
  update({ meta, ids, settled, weightsSettled = true, current = settled }) {
    this.host.style.height = "auto"; // the style sheet knows: a given height, or all that a phone needs
    const { height = 620 } = meta;
    this.root.style.setProperty("--geometry-height", typeof height === "string" ? height : `${height}px`);
    this.axes = meta.axes;
    if (meta.revision !== this.revision) this.hint = ""; // it was about other points
    this.revision = meta.revision;
    this.meta = meta.geometry ?? null;
    this.rows = new Map((ids ?? this.board.ids).map((id, row) => [id, row]));
    // An answer about the mu before must not take the slider out of the hand.
    if (this.meta && settled && !this.untold && this.meta.mu !== this.pythonMu) {
      this.pythonMu = this.meta.mu;
      this.wanted = this.meta.wanted ?? this.meta.mu;
    }
    if (weightsSettled) this.weights = new Map((this.meta?.pairs ?? []).map(([a, b, weight]) => [pairKey(a, b), weight]));
    this.current = current;
    this.plane.look = theme(this.root);
    this.root.style.setProperty("--pair", chartStyle(this.plane.look).accent);
    const withPlane = Boolean(this.meta?.plane);
    this.root.dataset.plane = String(withPlane);
    if (this.meta) this.root.dataset.kind = this.meta.kind; // kept without a geometry: the Board must not change its size
    this.find(".geometry-plane").hidden = !withPlane;
    this.find("[data-nu]").hidden = this.meta?.kind !== "hulls";
    this.refresh();
  }

  get ids() {
    return this.board.ids;
  }

  setScene(scene) {
    this.board.setScene(scene);
    this.refresh();
  }

  // ---- mu ---------------------------------------------------------------------------------------

  /** mu at a place of the slider, 0 to 1: by its logarithm, so that small values are within reach. */
  #muAt(place) {
    const least = this.state?.least ?? 1;
    if (place <= 0) return least;
    if (place >= 1) return 1;
    return Math.min(Math.max(Number((least ** (1 - place)).toPrecision(MU_DIGITS)), least), 1);
  }

  #placeOf(mu) {
    const least = this.state?.least ?? 1;
    return least < 1 ? Math.min(Math.max(1 - Math.log(mu) / Math.log(least), 0), 1) : 1;
  }

  /** The person chose a mu: show it at the next frame, and tell Python. */
  choose(mu, tell = true) {
    this.wanted = mu;
    this.hint = "";
    this.current = false;
    this.untold = true;
    this.#schedule();
    if (tell) this.#tell();
  }

  #tell() {
    this.untold = false;
    this.onMu(this.wanted);
  }

  #schedule() {
    this.scheduled ??= requestAnimationFrame(() => {
      this.scheduled = null;
      this.refresh();
      this.board.redraw();
    });
  }

  // ---- weights of the pairs ---------------------------------------------------------------------

  /** The person chose weights: show them at the next frame, and tell Python. */
  #weigh(chosen) {
    for (const [pair, weight] of chosen) this.weights.set(pair, weight);
    this.current = false;
    this.#schedule();
    this.onWeights(this.meta.pairs.map(([a, b]) => [a, b, this.#weightOf(a, b)]));
  }

  #weightOf(a, b) {
    return this.weights.get(pairKey(a, b)) ?? 1;
  }

  /** Weights between the prototypes: those of their classes. */
  #links() {
    const labels = this.meta.prototypes.map(({ label }) => label);
    return labels.map((a) => labels.map((b) => (a === b ? 0 : this.#weightOf(a, b))));
  }

  /** A row of the table is looked at, or (null) no longer. */
  #look(pair) {
    this.focus = pair;
    this.drawn = this.#picture();
    this.board.redraw();
    this.#showPlane();
  }

  #typed(text, toMu) {
    if (!this.state) return;
    const value = Number(text.trim().replace(",", "."));
    const { least } = this.state;
    const mu = toMu(value);
    if (!(value > 0) || !Number.isFinite(mu)) {
      this.hint = "Type a number above 0.";
    } else if (mu < least * (1 - 1e-9)) {
      this.choose(least);
      this.hint = `Not feasible: μ is at least ${readableNumber(least, 4)}, 1 over the smallest ${this.meta.least ? "share of a class" : "class"}` +
        (this.meta.kind === "hulls" ? `; ν at most ${readableNumber(nuOf(least, this.samples), 4)}.` : ".");
    } else {
      this.choose(Math.min(mu, 1));
      if (mu > 1) this.hint = "μ above 1 changes nothing: the hulls are the whole convex hulls.";
    }
    this.#showBar();
  }

  // ---- what is shown ----------------------------------------------------------------------------

  /** Work everything out anew and show it; the Board draws itself after this. */
  refresh() {
    const { meta, board } = this;
    this.samplesShown = meta ? this.#samples() : [];
    this.state = meta ? geometryAt(meta, this.samplesShown, this.wanted, this.#links()) : null;
    if (meta?.rule && meta.linear) this.#decide();
    else this.#undecide();
    const { status } = this.state ?? {};
    if (meta) board.setStatus(board.items.map(({ id }) => status?.get(id) ?? POINT_STATUS.NONE));
    this.#findPointed();
    this.drawn = this.#picture();
    board.setLegendItems(this.#legend());
    this.#showPlane();
    this.#showBar();
    this.#showWords();
    this.#showTable();
    this.#showMade();
    this.#publish();
  }

  /** The samples in the plane of the hulls: the Board's points, or their projections. */
  #samples() {
    const { meta, rows, board } = this;
    const points = meta.linear ? null : meta.plane?.points ?? [];
    const groupOf = (item, row) => (meta.groups ? meta.groups[row] ?? -1 : meta.prototypes.findIndex(({ label }) => label === item.label));
    return board.items.flatMap((item, k) => {
      const row = rows.get(item.id) ?? -1;
      const group = groupOf(item, row);
      const [x, y] = points ? points[row] ?? [NaN, NaN] : [item.x, item.y];
      return group < 0 || Number.isNaN(x) ? [] : [{ id: item.id, row, x, y, label: item.label, number: k + 1, group }];
    });
  }

  /** The geometry as `paintGeometry` takes it, in the plane of the hulls. */
  #picture() {
    const { state, meta } = this;
    if (!state) return {};
    const { prototypes, hulls, distances, overlap } = state;
    const hulled = hulls.map((hull, g) => ({ label: prototypes[g].label, vertices: hull.vertices }));
    if (!meta.linear && !meta.plane) return { hulls: hulled };
    const joined = overlap ? [] : prototypes.flatMap((_, from) => prototypes.slice(from + 1).flatMap((__, k) => {
      const to = from + 1 + k;
      return state.links[from][to] > 0 ? [{ from, to, text: readableNumber(distances[from][to], 3) }] : [];
    }));
    const links = this.#lookedAt(joined);
    const bisector = meta.kind === "hulls" && !overlap && distances[0][1] > 0 ? { from: 0, to: 1 } : null;
    // Two prototypes in one place need one name only.
    const named = overlap ? prototypes.map((p, g) => ({ ...p, name: g ? prototypes.map(({ name }) => name).join(" = ") : "" })) : prototypes;
    return { hulls: hulled, prototypes: named, links, bisector };
  }

  /** Of few links all say their length; of many those that are looked at, and the others step back. */
  #lookedAt(links) {
    const { prototypes } = this.state;
    const pointed = this.pointed?.key.startsWith("prototype") ? this.pointed.group : null;
    const isLookedAt = ({ from, to }) => (pointed === null ? pairKey(prototypes[from].label, prototypes[to].label) === this.focus : pointed === from || pointed === to);
    const few = links.length <= LABELLED_LINKS;
    if (!links.some(isLookedAt)) {
      if (few) return links;
      return links.map((link) => ({ ...link, text: "", width: 1.5, faint: links.length > CLEAR_LINKS }));
    }
    const others = links.filter((link) => !isLookedAt(link)).map((link) => ({ ...link, text: "", faint: true }));
    return [...others, ...links.filter(isLookedAt).map((link) => ({ ...link, width: 3.5 }))];
  }

  /** With the linear kernel the decision rules follow from the prototypes that stand here. */
  #decide() {
    const model = this.state && prototypeModel(this.state, this.meta);
    // An unchanged model keeps its identity, and with it everything the Board has computed for it.
    const text = JSON.stringify(model);
    if (this.decided && text === this.decided.text && this.board.model === this.decided.model) return;
    this.decided = { text, model, counts: model && ruleCounts(model, this.state.groups.flat(), this.meta.rule) };
    this.board.setModel(model);
  }

  /** What was decided here goes; a model that Python has sent stays. */
  #undecide() {
    if (this.decided && this.board.model === this.decided.model) this.board.setModel(null);
    this.decided = null;
  }

  /** What the Board paints: with a kernel that is not linear only the samples that make what is pointed at. */
  onBoard() {
    if (!this.state) return {};
    const makers = this.#makers(new Map(this.board.items.map((item) => [item.id, item])));
    return this.meta.linear ? { ...this.drawn, makers, pointed: this.pointed?.at ?? null } : { makers };
  }

  #makers(placed) {
    return (this.pointed?.makers ?? []).flatMap(({ id, weight }) => {
      const item = placed.get(id);
      return item ? [{ at: [item.x, item.y], share: weight / this.state.mu }] : [];
    });
  }

  #legend() {
    if (!this.state || !this.meta.linear) return [];
    const items = this.state.hulls.some(({ vertices }) => vertices.length > 1) ? [["hull", "reduced hull"]] : [];
    if (this.state.links.length > LABELLED_LINKS + 2) return items;
    items.push(["link", this.meta.kind === "hulls" ? "nearest points" : "prototypes"]);
    if (this.drawn.bisector) items.push(["line", "separating line"]);
    return items;
  }

  #showPlane() {
    if (!this.meta?.plane) return;
    const items = this.samplesShown.map((sample) => ({ ...sample, size: 0, status: this.state?.status.get(sample.id) ?? 0 }));
    const makers = this.state ? this.#makers(new Map(items.map((item) => [item.id, item]))) : [];
    this.plane.set({ items, axes: this.meta.plane.axes, geometry: { ...this.drawn, makers, pointed: this.pointed?.at ?? null } });
    this.plane.draw();
  }

  #showBar() {
    const { state, meta } = this;
    const ready = state !== null && state.least < 1;
    this.slider.disabled = !ready;
    for (const input of [this.muInput, this.nuInput]) input.disabled = !ready;
    this.tick.hidden = !ready || typeof meta.critical !== "number";
    const mu = state?.mu ?? 1;
    const place = this.#placeOf(mu);
    const at = String(Math.round(MU_STEPS * place));
    if (this.slider.value !== at) this.slider.value = at;
    this.slider.style.setProperty("--done", `${100 * place}%`);
    this.slider.setAttribute("aria-valuetext", `μ = ${shareText(mu)}`);
    setInput(this.muInput, state ? readableNumber(mu, MU_DIGITS) : "");
    setInput(this.nuInput, state ? readableNumber(nuOf(mu, this.samples), MU_DIGITS) : "");
    if (!this.tick.hidden) {
      this.tick.style.setProperty("--at", this.#placeOf(meta.critical));
      setText(this.tick, `▲ first touch ${readableNumber(meta.critical, 3)}`);
      this.tick.title = "Go to the μ at which the hulls first touch";
      this.tick.dataset.side = this.#placeOf(meta.critical) > 0.5 ? "left" : "right";
    }
    const low = ready ? `${readableNumber(state.least, 3)}` : "";
    setText(this.find(".geometry-low"), low && `${low}: mean`);
    setText(this.find(".geometry-high"), ready ? "1: convex hull" : "");
    const nu = ready && meta.kind === "hulls" ? nuWords(mu, state.least, this.samples) : "";
    const clipped = ready && this.wanted < state.least * (1 - 1e-9) ? `μ = ${shareText(this.wanted)} is not feasible here: ${shareText(state.least)} is the smallest, and is shown.` : "";
    const alone = state && !ready ? "A class with one sample gives it all the weight: μ can only be 1." : "";
    setText(this.find(".geometry-hint"), this.hint || clipped || nu || alone);
  }

  #showWords() {
    const nameOf = (label) => this.board.className(label);
    const counts = this.decided?.counts ?? this.meta?.counts ?? null;
    const words = this.state ? GEOMETRY_WORDS[this.meta.kind]({ ...this.state, rules: counts }, this.meta, nameOf, this.axes) : [];
    const place = this.find(".geometry-words").firstChild;
    while (place.children.length > words.length) place.lastChild.remove();
    words.forEach(({ head, text }, k) => {
      if (!place.children[k]) {
        place.append(document.createElement("p"));
        place.children[k].append(document.createElement("b"), " ", document.createElement("span"));
      }
      const [bold, plain] = place.children[k].children;
      setText(bold, head);
      setText(plain, text);
    });
  }

  /** The distances of all pairs, with their weights. */
  #showTable() {
    const { meta, state } = this;
    const shown = Boolean(state && meta.pairs);
    this.find(".geometry-table").hidden = !shown;
    if (!shown) return;
    const rows = meta.pairs.map(([a, b]) => pairRow(state, a, b, this.#weightOf(a, b)));
    this.table.show({ rows, certificate: meta.certificate, current: this.current }, (label) => this.board.className(label), this.plane.look.dark);
  }

  /** What the vertex or prototype under the pointer is made of. */
  #showMade() {
    const { pointed, state, meta } = this;
    const place = this.find(".geometry-made");
    if (!place.children.length) place.append(document.createElement("b"), " ", document.createElement("span"));
    const [head, text] = place.children;
    const whose = meta?.kind === "hulls" && meta.linear ? "a corner of a hull" : "a corner or a prototype";
    setText(head, pointed ? `${pointed.name}:` : "");
    setText(text, pointed ? madeText(pointed, state) : state ? `Point at ${whose} to see the samples and the weights that make it.` : "");
    place.dataset.idle = String(!pointed);
  }

  // ---- pointing ---------------------------------------------------------------------------------

  /** The pointer is somewhere on the Board or the feature plane, or (null) has left. */
  point(pointer) {
    this.pointer = this.board.busy ? null : pointer;
    const before = this.pointed?.key;
    this.#findPointed();
    if (this.pointed?.key === before) return;
    this.drawn = this.#picture();
    this.#showMade();
    this.#publish();
    this.board.redraw();
    this.#showPlane();
  }

  #findPointed() {
    const { pointer, state, meta } = this;
    this.pointed = null;
    if (!pointer || !state) return;
    // With a kernel that is not linear only the samples are in both planes.
    const here = (pointer.where === "board") === meta.linear;
    this.pointed = (here ? this.#pointedPlace(pointer.at) : null) ?? this.#pointedSample(pointer);
  }

  /** The prototype or corner of a hull near a pixel, or null. */
  #pointedPlace(at) {
    const { state } = this;
    const prototypes = state.prototypes.map((prototype, group) => ({
      group, at: prototype.at, name: prototype.name, key: `prototype ${group}`, weights: () => prototype.weights,
    }));
    const corners = state.hulls.flatMap((hull, group) => hull.vertices.map((vertex, k) => ({
      group, at: vertex, name: `A corner of the hull of ${classStyle(state.prototypes[group].label).sign}`, key: `vertex ${group} ${k}`,
      weights: () => hull.weights(k),
    })));
    // Prototypes come first: a corner beneath one is hard to see.
    const best = this.#nearest(prototypes, at, PROTOTYPE_RADIUS + 4) ?? this.#nearest(corners, at, POINTED_REACH);
    if (!best) return null;
    const weights = best.weights();
    const makers = state.groups[best.group].flatMap((sample, k) => (weights[k] > 1e-9 ? [{ ...sample, weight: weights[k] }] : []));
    return { ...best, makers };
  }

  /** The one of some places that is nearest to a pixel of the plane of the hulls, if it is within reach. */
  #nearest(places, [px, py], reach) {
    const canvas = this.meta.linear ? this.board : this.plane;
    let [best, least] = [null, reach];
    for (const place of places) {
      const [x, y] = canvas.toPixel(...place.at);
      const distance = Math.hypot(x - px, y - py);
      if (distance <= least) [best, least] = [place, distance];
    }
    return best;
  }

  /** The sample under the pointer, on either canvas, or null. */
  #pointedSample({ where, at }) {
    const { state, board } = this;
    const under = where === "board" ? board.pointAt(at, board.radius + 4)?.id
      : this.#nearest(this.samplesShown.map(({ id, x, y }) => ({ id, at: [x, y] })), at, POINTED_REACH)?.id;
    for (const [group, samples] of state.groups.entries()) {
      const k = samples.findIndex(({ id }) => id === under);
      if (k < 0) continue;
      const { name, label, weights } = state.prototypes[group];
      const sample = { ...samples[k], weight: weights[k] };
      return { key: `sample ${under}`, at: null, name: `${classStyle(label).sign}\u00a0${sample.number}`, sample, prototype: name, makers: [sample] };
    }
    return null;
  }

  /** What tests read. */
  #publish() {
    this.updates += 1;
    const { dataset } = this.root;
    dataset.updates = String(this.updates);
    dataset.ready = String(this.state !== null);
    dataset.mu = this.state ? String(this.state.mu) : "";
    dataset.overlap = this.state ? String(this.state.overlap) : "";
    dataset.distance = this.state ? String(this.state.distances[0][1] ?? "") : "";
    dataset.pointed = this.pointed?.key ?? "";
  }

  destroy() {
    cancelAnimationFrame(this.scheduled);
    this.plane.destroy();
    this.board.destroy();
  }
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Show a value in a field, unless someone is typing into it. */
function setInput(input, text) {
  if (input.getRootNode().activeElement !== input && input.value !== text) input.value = text;
}
