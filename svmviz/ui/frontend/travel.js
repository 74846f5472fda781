// The prototypes of a run on their way: on the Board with the linear kernel, otherwise in a plane of feature space.

const PLANE_MARKUP = `
  <div class="travel-plane" hidden></div>
  <div class="travel-switch" role="group" aria-label="Plane" hidden>
    <button type="button" data-plane="input" aria-pressed="true">input</button>
    <button type="button" data-plane="feature" aria-pressed="false">feature space</button>
  </div>`;

const TWO_PROTOTYPES = ["v₋", "v₊"]; // of the μ-SVM, as its hulls are called

/** Draws hulls, prototypes, their links and the way they came, for the machines that have prototypes. */
class Travel {
  /**
   * @param {HTMLElement} host the element that holds the Board
   * @param {Board} board
   */
  constructor(host, board) {
    Object.assign(this, { host, board });
    this.input = null; // {samples, hulls, ways, geometry}: what is shown on the Board
    this.feature = null; // the same in the feature plane, with its axes
    this.shown = "input";
    this.status = [];
    host.insertAdjacentHTML("beforeend", PLANE_MARKUP);
    [this.planeHost, this.switch] = [host.querySelector(".travel-plane"), host.querySelector(".travel-switch")];
    this.plane = null; // made when it is first shown
    this.switch.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      this.show(button.dataset.plane);
      if (event.detail > 0) button.blur(); // the keys are the Player's
    });
    board.setUnderlay((ctx, place) => this.input && paintHulls(ctx, board.look, place, this.input.geometry));
    this.observer = new ResizeObserver(() => this.#place());
    this.observer.observe(board.canvas);
  }

  /**
   * Takes a new run, or null.
   * @param {?Replay} replay
   * @param {{trace: object, model: object}} meta
   * @param {number[][]} points where the samples are on the Board
   */
  setReplay(replay, meta, points) {
    const has = replay !== null && ["mu_svm", "ad_svm"].includes(meta.model.machine);
    Object.assign(this, { replay: has ? replay : null, model: has ? meta.model : null });
    const flat = has && meta.model.kernel.name === "linear";
    const { plane = null } = has ? meta.trace : {};
    this.input = has ? this.#picture(points, flat) : null;
    this.feature = plane && this.#picture(plane.points, true);
    this.axes = plane?.axes ?? ["", ""];
    this.switch.hidden = !this.feature;
    this.show(this.feature ? this.shown : "input", true);
  }

  /** What stays the same all along a run: hulls, and the ways of the prototypes. */
  #picture(points, exact) {
    const { replay, model } = this;
    const members = model.owners.map(() => []);
    replay.dual.sample.forEach((m, d) => members[replay.dual.group[d]].push(points[m]));
    return { points, exact, members, hulls: exact ? this.#hulls(members) : [], ways: this.#ways(points), geometry: {} };
  }

  /** The reduced hull of each group of points; in a walk of μ they grow or shrink. */
  #hulls(members) {
    const { replay, model } = this;
    return members.map((group, g) => ({ label: model.owners[g], vertices: reducedHull(group, Math.max(replay.ceiling, 1 / group.length)).vertices }));
  }

  /** Every place of each prototype, one a step in its group: [{step, at}]. */
  #ways(points) {
    const { replay } = this;
    if (replay.walk) return this.#walked(points);
    const { sample, group } = replay.dual;
    const at = Array.from({ length: replay.groups }, () => [0, 0]);
    replay.trace.z0.forEach((z, d) => [0, 1].forEach((axis) => { at[group[d]][axis] += z * points[sample[d]][axis]; }));
    const ways = at.map((place) => [{ step: 0, at: [...place] }]);
    const { i, j, z_i_before: before, z_i_after: after, z_j_after: afterJ } = replay.columns;
    const z = [...replay.trace.z0];
    for (let k = 0; k < replay.length; k += 1) {
      const jump = replay.jumps.get(k);
      if (jump) {
        this.#jump(jump, z, at, points).forEach((g) => ways[g].push({ step: k + 1, at: [...at[g]] }));
        continue;
      }
      [z[i[k]], z[j[k]]] = [after[k], afterJ[k]];
      const [moved, t] = [group[i[k]], after[k] - before[k]];
      const [towards, from] = [points[sample[i[k]]], points[sample[j[k]]]];
      at[moved] = at[moved].map((value, axis) => value + t * (towards[axis] - from[axis]));
      ways[moved].push({ step: k + 1, at: [...at[moved]] });
    }
    return ways;
  }

  /** The same of a walk: at every event all may have moved. */
  #walked(points) {
    const { replay } = this;
    const { sample, group } = replay.dual;
    const ways = Array.from({ length: replay.groups }, () => []);
    for (let k = 0; k <= replay.length; k += 1) {
      ways.forEach((way) => way.push({ step: k, at: [0, 0] }));
      replay.multipliersAt(k).forEach((z, d) => {
        const { at } = ways[group[d]][k];
        [0, 1].forEach((axis) => { at[axis] += z * points[sample[d]][axis]; });
      });
    }
    return ways;
  }

  /** Takes a Newton step from the multipliers z and the places `at`, in place; the groups that it moves. */
  #jump({ indices, after }, z, at, points) {
    const { sample, group } = this.replay.dual;
    indices.forEach((d, f) => {
      at[group[d]] = at[group[d]].map((value, axis) => value + (after[f] - z[d]) * points[sample[d]][axis]);
      z[d] = after[f];
    });
    return new Set(indices.map((d) => group[d]));
  }

  /** Shows the position that the replay is at. */
  update(status) {
    if (!this.replay) return;
    this.status = status;
    const prototypes = prototypesOf(this.replay);
    if (this.replay.walk) [this.input, this.feature].forEach((one) => one?.exact && Object.assign(one, { hulls: this.#hulls(one.members) }));
    this.input.geometry = this.#geometry(this.input, prototypes);
    if (!this.feature) return;
    this.feature.geometry = this.#geometry(this.feature, prototypes);
    if (this.shown === "feature") this.#drawPlane();
  }

  /** As `paintGeometry` takes it. */
  #geometry({ points, exact, hulls }, { weights, squares }) {
    const { replay, model } = this;
    const { coupling } = replay.dual;
    const prototypes = weights.map((row, g) => {
      const at = [0, 0];
      row.forEach((u, m) => { if (u !== 0) [0, 1].forEach((axis) => { at[axis] += u * points[m][axis]; }); });
      const name = model.machine === "mu_svm" ? TWO_PROTOTYPES[g] : replay.groupName(g);
      return { label: model.owners[g], at, name: exact ? name : `mean ${name}` };
    });
    const linked = (p, q) => coupling[p][q] < 0;
    const links = exact
      ? prototypes.flatMap((_, p) => prototypes.slice(p + 1).flatMap((__, k) => {
        const q = p + 1 + k;
        return linked(p, q) ? [{ from: p, to: q, text: readableNumber(Math.sqrt(squares[p][q]), 3) }] : [];
      }))
      : [];
    return { hulls, prototypes, links: links.length > 6 ? links.map((link) => ({ ...link, text: "" })) : links };
  }

  /** On top of the Board's points, beneath the marks of the pair. */
  paint(ctx, place, board) {
    if (!this.input) return;
    paintWays(ctx, board.look, place, this.input.ways, this.replay.position, this.model.owners);
    paintPrototypes(ctx, board.look, place, board.frame, this.input.geometry);
  }

  show(plane, quiet = false) {
    if (!quiet) this.shown = plane;
    const feature = plane === "feature";
    this.planeHost.hidden = !feature;
    for (const button of this.switch.children) button.setAttribute("aria-pressed", String(button.dataset.plane === plane));
    this.board.setLegendItems(this.#legend(feature ? this.feature : this.input), !feature);
    this.#place();
    if (feature) this.#drawPlane();
  }

  /** What there is besides the Board's own picture. */
  #legend(picture) {
    if (!picture) return [];
    const way = ["way", picture.exact ? "way of the prototype" : "way of the mean"];
    return picture.hulls.some(({ vertices }) => vertices.length > 1) ? [["hull", "reduced hull"], way] : [way];
  }

  #drawPlane() {
    const { replay, feature, status } = this;
    const items = feature.points.map(([x, y], m) => ({ x, y, label: replay.labels[m], status: status[m] ?? 0, size: 0 }));
    const { pair, jump } = replay;
    const moved = pair ? [pair.i, pair.j] : jump ? jump.indices : [];
    const makers = moved.map((d) => ({ at: feature.points[replay.dual.sample[d]], share: pair ? 0.4 : 0.1 }));
    this.plane ??= new FeaturePlane(this.planeHost);
    const before = (ctx, place, look) => paintWays(ctx, look, place, feature.ways, replay.position, this.model.owners);
    this.plane.set({ items, axes: this.axes, geometry: { ...feature.geometry, makers }, before });
    this.plane.draw();
  }

  /** With the theme as it is now. */
  redraw() {
    if (this.shown === "feature" && this.feature) this.plane?.redraw();
  }

  /** Over the Board's picture, whatever the height of the bar above it. */
  #place() {
    const { canvas } = this.board;
    const [own, theirs] = [this.host.getBoundingClientRect(), canvas.getBoundingClientRect()];
    const top = theirs.top - own.top;
    Object.assign(this.planeHost.style, { top: `${top}px`, height: `${theirs.height}px` });
    this.switch.style.top = `${top + 14}px`;
  }

  destroy() {
    this.observer.disconnect();
    this.plane?.destroy();
  }
}

/** The way that each prototype has come up to a position, as a thin line with a dot where it began. */
function paintWays(ctx, look, toPixel, ways, position, owners) {
  ctx.save();
  ctx.lineJoin = "round";
  ways.forEach((way, g) => {
    const [first] = way;
    for (const [width, colour] of [[5, withAlpha(look.background, 0.7)], [2, classColour(owners[g], look.dark)]]) {
      ctx.beginPath();
      ctx.moveTo(...toPixel(...first.at));
      for (const { step, at } of way) {
        if (step > position) break;
        ctx.lineTo(...toPixel(...at));
      }
      ctx.lineWidth = width;
      ctx.strokeStyle = colour;
      ctx.stroke();
    }
    drawMark(ctx, "circle", ...toPixel(...first.at), 4, look.background, classColour(owners[g], look.dark), 2);
  });
  ctx.restore();
}
