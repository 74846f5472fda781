// The Board: one canvas that shows points, regions, margins and support vectors, and on which one draws.

const POINT_LIMIT = 2000;
const HISTORY_LIMIT = 200;
const DEFAULT_SCENE = {
  task: "classification", points: [], view: [-1, 1, -1, 1], axes: ["x1", "x2"], classNames: [], editable: true, limit: POINT_LIMIT,
};
const ZOOM_RANGE = [1e-3, 20]; // visible range over the range of the whole scene
const EQUAL_UNITS_UP_TO = 2.5; // ratio of the two ranges up to which both axes get the same scale

/** The component's own keys must not act while someone types. */
function typesText(event) {
  const target = event.composedPath()[0];
  return target?.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? "");
}

/** Nor does undo where there is a text to be undone; a closed list, a slider or a switch has none. */
function editsText(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element) || target.matches("[role=combobox]:not([aria-expanded=true]), input:is([type=range], [type=checkbox], [type=radio])")) return false;
  return typesText(event) || target.closest("[role=dialog]") !== null;
}

/** A view [x0, x1, y0, y1] with something to see: an empty range is widened. */
function properView([x0, x1, y0, y1]) {
  const widened = (lo, hi) => (hi > lo ? [lo, hi] : [lo - 1, lo + 1]);
  return [...widened(x0, x1), ...widened(y0, y1)];
}

class Board {
  /**
   * @param {HTMLElement} host an empty element that has a size; the Board fills it and follows it
   * @param {{onEdit?: (points: number[][]) => void, onChange?: (board: Board) => void, onPick?: (k: number) => void, onPlace?: (point: number[]) => void, compact?: boolean}} options
   *   onEdit is called after every edit, also during one, at most once an animation frame; onChange after every
   *   change of points, history, tool, class or zoom; a compact Board leaves the names of the axes out; onPick is
   *   called with the number of a point that was clicked on a Board that is not editable, onPlace with the
   *   [x, y, label] of a new point where its tool is "place"
   */
  constructor(host, { onEdit = () => {}, onChange = () => {}, onPick = null, onPlace = null, compact = false } = {}) {
    Object.assign(this, { host, onEdit, onChange, onPick, onPlace, compact });
    this.name = "Drawing board"; // what a screen reader calls it
    this.scene = { ...DEFAULT_SCENE };
    this.items = []; // {id, x, y, label, status, size}
    this.nextId = 1;
    this.model = null;
    this.underlay = null;
    this.overlay = null;
    this.legendItems = []; // [picture, text] of what underlay and overlay draw
    this.hollowMeans = ""; // what the legend says of hollow points
    this.legendOfModel = true; // not where another picture covers the Board's
    this.message = null;
    this.tool = "draw";
    this.activeClass = 0;
    this.past = [];
    this.future = [];
    this.before = null; // the points when the current edit began
    this.hovered = null;
    this.touched = null;
    this.pointer = null;
    this.zoom = null; // {x, y, scale}: centre in data units, visible range over the whole; null = everything
    this.regions = new RegionPicture();
    this.tube = new TubePicture();
    this.frame = { left: 0, top: 0, width: 1, height: 1, before: 0, below: 0 };
    this.#build();
    this.look = theme(this.root);
    this.#listen();
    this.#resize();
  }

  #build() {
    this.root = element("div", "board");
    this.toolbar = new Toolbar(this);
    this.legend = new Legend();
    this.box = element("div", "board-box");
    this.canvas = element("canvas", "board-canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.note = element("div", "board-message");
    this.note.setAttribute("role", "status");
    this.readout = element("div", "board-readout");
    this.readout.setAttribute("aria-hidden", "true");
    this.box.append(this.canvas, this.note, this.readout);
    this.root.append(this.toolbar.root, this.box, this.legend.root);
    this.host.append(this.root);
    this.ctx = this.canvas.getContext("2d", { alpha: false }); // opaque: nothing to blend with
  }

  #listen() {
    this.gestures = new Gestures(this, this.canvas);
    this.over = false;
    this.root.addEventListener("pointerenter", () => { this.over = true; });
    this.root.addEventListener("pointerleave", () => { this.over = false; });
    this.onKey = (event) => this.#key(event);
    document.addEventListener("keydown", this.onKey);
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(this.box);
  }

  // ---- what the outside sets -------------------------------------------------------------------

  /**
   * Set what the Board shows. Points that differ from the present ones replace them and end the undo
   * history, unless they are the present ones and some more, which is an edit like any other; the zoom is kept as
   * long as the scene's view stays the same.
   * @param {{task?: string, points?: number[][], view?: number[], axes?: string[], classNames?: string[], editable?: boolean, limit?: number}} scene
   */
  setScene(scene) {
    const next = { ...this.scene, ...Object.fromEntries(Object.entries(scene).filter(([, value]) => value !== undefined)) };
    next.view = properView(next.view);
    if (JSON.stringify(next.view) !== JSON.stringify(this.scene.view)) this.zoom = null;
    if (!next.editable && this.scene.editable) this.tool = this.onPlace ? "pick" : "pan";
    if (next.editable && !this.scene.editable) this.tool = "draw";
    this.scene = next;
    if (scene.points && JSON.stringify(scene.points) !== JSON.stringify(this.points)) this.#adopt(scene.points);
    this.#invalidate();
    this.#sync();
  }

  #adopt(points) {
    const present = this.items.length;
    if (present && points.length > present && JSON.stringify(points.slice(0, present)) === JSON.stringify(this.points)) {
      this.beginEdit();
      this.items.push(...points.slice(present).map(([x, y, label]) => this.#item(x, y, label ?? 0)));
      this.endEdit();
      return;
    }
    this.items = points.map(([x, y, label]) => this.#item(x, y, label ?? 0));
    this.past = [];
    this.future = [];
    this.before = null;
    this.hovered = null;
    this.touched = null;
  }

  /** What can be undone and redone, for another Board on which the same points are drawn. */
  get history() {
    return { points: this.points, ids: this.ids, past: this.past, future: this.future };
  }

  /** Take up the history of another Board, if its points are those of this one. */
  takeUp({ points, ids, past, future }) {
    if (JSON.stringify(points) !== JSON.stringify(this.points)) return;
    const known = new Map(ids.map((id, k) => [id, this.items[k].id]));
    const renamed = (item) => {
      if (!known.has(item.id)) known.set(item.id, this.nextId++);
      return { ...item, id: known.get(item.id) };
    };
    [this.past, this.future] = [past, future].map((snapshots) => snapshots.map((items) => items.map(renamed)));
    this.#sync();
  }

  /** Set the decision function, or null to show none. */
  setModel(model) {
    this.model = model ?? null;
    this.#invalidate();
    this.legend.update(this);
  }

  /**
   * Set how each point takes part: 0 not a support vector, 1 free, 2 at the bound.
   * @param {?number[]} status @param {?number[]} ids the points meant (as of `ids`); default: all present ones in order
   */
  setStatus(status, ids = null) {
    const known = new Map((ids ?? this.ids).map((id, k) => [id, status?.[k] ?? 0]));
    for (const item of this.items) item.status = known.get(item.id) ?? 0;
    this.#invalidate();
    this.legend.update(this);
  }

  /** Set which points (of those with these ids, as for setStatus) are drawn hollow, and what the legend says of them. */
  setHollow(flags, means = "", ids = null) {
    this.hollowMeans = means;
    const known = new Map((ids ?? this.ids).map((id, k) => [id, Boolean(flags?.[k])]));
    for (const item of this.items) item.hollow = known.get(item.id) ?? item.hollow;
    this.#invalidate();
    this.legend.update(this);
  }

  /** Show the points of another Board, with its history, tool, class and zoom: both are then one sheet. */
  mirror(other) {
    const present = new Map(this.items.map((item) => [item.id, item]));
    this.items = other.items.map((item) => {
      const { status = POINT_STATUS.NONE, size = 0 } = present.get(item.id) ?? {};
      return { ...item, status, size };
    });
    const same = (item) => this.items.find(({ id }) => id === item?.id) ?? null;
    [this.hovered, this.touched] = [same(this.hovered), same(this.touched)];
    for (const name of ["nextId", "past", "future", "tool", "activeClass", "zoom"]) this[name] = other[name];
    this.#invalidate();
    this.#sync();
  }

  /** Set a size between 0 and 1 for each point (a multiplier over its bound), drawn as a halo. */
  setSizes(sizes) {
    this.items.forEach((item, k) => { item.size = sizes?.[k] ?? 0; });
    this.#invalidate();
  }

  /** Set how solid each point is drawn, from 0 to 1; null for all of them fully. */
  setOpacities(opacities) {
    this.items.forEach((item, k) => { item.opacity = opacities?.[k] ?? 1; });
    this.#invalidate();
  }

  /** Set what is drawn last of all: overlay(ctx, toPixel, board), or null. */
  setOverlay(overlay) {
    this.overlay = overlay;
    this.#invalidate();
  }

  /** Set what is drawn beneath the points: underlay(ctx, toPixel, board), or null. */
  setUnderlay(underlay) {
    this.underlay = underlay;
    this.#invalidate();
  }

  /** Set what the legend says of underlay and overlay: [picture, text] each, see LEGEND_PICTURES; ofModel: and of the model. */
  setLegendItems(items, ofModel = true) {
    this.legendItems = items;
    this.legendOfModel = ofModel;
    this.legend.update(this);
  }

  /** Set the sentence shown on the Board, or null. */
  setMessage(text) {
    this.message = text || null;
    this.#showMessage();
  }

  setTool(tool) {
    this.tool = tool;
    this.#invalidate();
    this.#sync();
  }

  setClass(label) {
    this.activeClass = label;
    if (this.onPlace) this.tool = "place";
    else if (this.tool === "erase" || this.tool === "pan") this.tool = "draw";
    this.#sync();
  }

  // ---- what the outside reads ------------------------------------------------------------------

  /** The points as [x, y, label]. */
  get points() {
    return this.items.map(({ x, y, label }) => [x, y, label]);
  }

  /** One lasting number for each point, in the order of `points`. */
  get ids() {
    return this.items.map((item) => item.id);
  }

  get count() {
    return this.items.length;
  }

  get canUndo() {
    return this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }

  /** True while a pointer is drawing, moving, erasing or panning. */
  get busy() {
    return this.gestures.busy;
  }

  /** Whether points can be added, here or by who watches. */
  get draws() {
    return this.scene.editable || this.onPlace !== null;
  }

  /** The visible range [x0, x1, y0, y1]. */
  get view() {
    const [x0, x1, y0, y1] = this.#wholeView();
    if (!this.zoom) return [x0, x1, y0, y1];
    const { x, y, scale } = this.zoom;
    const [halfX, halfY] = [((x1 - x0) * scale) / 2, ((y1 - y0) * scale) / 2];
    return [x - halfX, x + halfX, y - halfY, y + halfY];
  }

  /** Radius of a mark in pixels. */
  get radius() {
    return markRadius(this.items.length, this.frame);
  }

  className(label) {
    return this.scene.classNames[label] ?? classStyle(label).name;
  }

  usedLabels() {
    return [...new Set(this.items.map((item) => item.label))].sort((a, b) => a - b);
  }

  statuses() {
    return new Set(this.items.map((item) => item.status));
  }

  /** Pixel (in the canvas) of a place in data units. */
  toPixel(x, y) {
    const { left, top, width, height } = this.frame;
    const [x0, x1, y0, y1] = this.view;
    return [left + ((x - x0) / (x1 - x0)) * width, top + ((y1 - y) / (y1 - y0)) * height];
  }

  /** Data units of a pixel of the canvas. */
  toData(px, py) {
    const { left, top, width, height } = this.frame;
    const [x0, x1, y0, y1] = this.view;
    return [x0 + ((px - left) / width) * (x1 - x0), y1 - ((py - top) / height) * (y1 - y0)];
  }

  inFrame([px, py]) {
    const { left, top, width, height } = this.frame;
    return px >= left && px <= left + width && py >= top && py <= top + height;
  }

  /** The nearest point within `reach` pixels, or null. */
  pointAt([px, py], reach) {
    let best = null;
    let least = reach;
    for (const item of this.items) {
      const [x, y] = this.toPixel(item.x, item.y);
      const distance = Math.hypot(px - x, py - y);
      if (distance <= least) [best, least] = [item, distance];
    }
    return best;
  }

  // ---- edits -----------------------------------------------------------------------------------

  #item(x, y, label) {
    const item = { id: this.nextId, x, y, label, status: POINT_STATUS.NONE, size: 0, hollow: false };
    this.nextId += 1;
    return item;
  }

  /** A place in data units, rounded to a power of ten below 1e-4 of the whole width. */
  #rounded(at) {
    const [x0, x1, y0, y1] = this.#wholeView();
    const round = (value, range) => {
      const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(1e-4 * range * Math.min(1, this.zoom?.scale ?? 1)))));
      return Number(value.toFixed(digits));
    };
    const [x, y] = this.toData(...at);
    return [round(x, x1 - x0), round(y, y1 - y0)];
  }

  /** Begin an edit: everything until endEdit is one step of undo. */
  beginEdit() {
    this.before = this.#snapshot();
  }

  /** End an edit and remember it if it changed anything. */
  endEdit() {
    const before = this.before;
    this.before = null;
    if (!before || JSON.stringify(before) === JSON.stringify(this.#snapshot())) return;
    this.past = [...this.past.slice(1 - HISTORY_LIMIT), before];
    this.future = [];
    this.#sync();
  }

  /** Take the current edit back. */
  revertEdit() {
    const before = this.before;
    this.before = null;
    if (before) this.#restore(before);
  }

  #snapshot() {
    return this.items.map(({ id, x, y, label }) => ({ id, x, y, label }));
  }

  #restore(snapshot) {
    const present = new Map(this.items.map((item) => [item.id, item]));
    this.items = snapshot.map((item) => ({ status: 0, size: 0, ...present.get(item.id), ...item }));
    this.hovered = null;
    this.touched = null;
    this.#changed();
  }

  /** Add a point of the active class at a pixel; null when the Board is full or the pixel is outside. */
  add(at) {
    if (!this.inFrame(at)) return null;
    if (this.items.length >= this.scene.limit) {
      this.setMessage(`The Board holds ${this.scene.limit} points: remove some to draw more.`);
      return null;
    }
    const item = this.#item(...this.#rounded(at), this.#label());
    this.items.push(item);
    this.touch(item);
    this.#changed();
    return item;
  }

  #label() {
    return this.scene.task === "regression" ? 0 : this.activeClass;
  }

  movePoint(item, at) {
    [item.x, item.y] = this.#rounded(at);
    this.#changed();
  }

  /** Remove the point under a pixel (an edit of its own). */
  removeAt(at, reach) {
    const item = this.pointAt(at, reach);
    if (!item || !this.scene.editable) return;
    this.beginEdit();
    this.#remove(new Set([item]));
    this.endEdit();
  }

  eraseAt(at, radius) {
    const hit = this.items.filter((item) => {
      const [x, y] = this.toPixel(item.x, item.y);
      return Math.hypot(at[0] - x, at[1] - y) <= radius;
    });
    if (hit.length) this.#remove(new Set(hit));
  }

  #remove(gone) {
    this.items = this.items.filter((item) => !gone.has(item));
    this.hovered = null;
    this.touched = null;
    this.#changed();
  }

  /** A click on a Board that is not editable. */
  pick(at, reach) {
    if (this.tool === "place") {
      if (this.inFrame(at)) this.onPlace([...this.#rounded(at), this.#label()]);
      return;
    }
    const item = this.pointAt(at, reach);
    if (item) this.onPick?.(this.items.indexOf(item));
  }

  /** Remember the point that Delete removes when the pointer is over none. */
  touch(item) {
    this.touched = item;
    if (this.#marksHovered()) this.hovered = item;
  }

  undo() {
    this.#travel(this.past, this.future);
  }

  redo() {
    this.#travel(this.future, this.past);
  }

  #travel(from, to) {
    if (!from.length || this.busy || !this.draws) return;
    to.push(this.#snapshot());
    this.#restore(from.pop());
  }

  clear() {
    if (!this.items.length || !this.scene.editable) return;
    this.beginEdit();
    this.#remove(new Set(this.items));
    this.endEdit();
  }

  /** After every change of the points: draw, and tell the outside at most once a frame. */
  #changed() {
    this.#invalidate();
    this.#sync();
    this.editWaits = true;
    if (!this.editFrame) this.#tell();
  }

  #tell() {
    this.editWaits = false;
    this.editFrame = requestAnimationFrame(() => {
      this.editFrame = null;
      if (this.editWaits) this.#tell();
    });
    this.onEdit(this.points);
  }

  // ---- view ------------------------------------------------------------------------------------

  /** The whole scene's range; both axes get the same units where their ranges are alike. */
  #wholeView() {
    const [x0, x1, y0, y1] = this.scene.view;
    const [width, height] = [x1 - x0, y1 - y0];
    const alike = Math.max(width / height, height / width) <= EQUAL_UNITS_UP_TO;
    if (this.scene.task === "regression" || !alike) return [x0, x1, y0, y1];
    const unit = Math.max(width / this.frame.width, height / this.frame.height);
    const moreX = (unit * this.frame.width - width) / 2;
    const moreY = (unit * this.frame.height - height) / 2;
    return [x0 - moreX, x1 + moreX, y0 - moreY, y1 + moreY];
  }

  /** Move the picture by pixels. */
  panBy(dx, dy) {
    const [x0, x1, y0, y1] = this.view;
    const shiftX = (dx / this.frame.width) * (x1 - x0);
    const shiftY = (dy / this.frame.height) * (y1 - y0);
    this.#setZoom((x0 + x1) / 2 - shiftX, (y0 + y1) / 2 + shiftY, this.zoom?.scale ?? 1);
  }

  /** Zoom about a pixel; a factor above 1 shows more. */
  zoomAt(at, factor) {
    const old = this.zoom?.scale ?? 1;
    const scale = Math.min(ZOOM_RANGE[1], Math.max(ZOOM_RANGE[0], old * factor));
    const [x, y] = this.toData(...at);
    const [x0, x1, y0, y1] = this.view;
    const [midX, midY] = [(x0 + x1) / 2, (y0 + y1) / 2];
    this.#setZoom(x + ((midX - x) * scale) / old, y + ((midY - y) * scale) / old, scale);
  }

  #setZoom(x, y, scale) {
    this.zoom = { x, y, scale };
    this.#invalidate();
    this.onChange(this);
  }

  /** Show the whole scene, and every point that lies outside it. */
  fit() {
    this.zoom = null;
    const [x0, x1, y0, y1] = this.#wholeView();
    const [xs, ys] = [this.items.map((item) => item.x), this.items.map((item) => item.y)];
    const low = [Math.min(x0, ...xs), Math.min(y0, ...ys)];
    const high = [Math.max(x1, ...xs), Math.max(y1, ...ys)];
    const scale = Math.max((high[0] - low[0]) / (x1 - x0), (high[1] - low[1]) / (y1 - y0));
    if (scale > 1) this.zoom = { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, scale: 1.08 * scale };
    this.#invalidate();
    this.onChange(this);
  }

  // ---- pointer and keys ------------------------------------------------------------------------

  /** The pointer is over a pixel of the canvas, or (null) has left. */
  hover(at, pointerType = "mouse") {
    this.pointer = at && pointerType !== "touch" ? at : null;
    const over = this.pointer && this.#marksHovered();
    const hovered = over ? this.pointAt(this.pointer, this.radius + 4) : null;
    const changed = !this.busy && hovered !== this.hovered;
    if (changed) this.hovered = hovered;
    // A pointer that only passes over the picture costs no drawing.
    if (changed || this.#usesBrush()) this.#invalidate();
    else this.#showReadout();
  }

  /** The brushes work on places, not on the point under the pointer. */
  #marksHovered() {
    return this.tool === "draw" || this.tool === "pan" || this.tool === "pick";
  }

  #key(event) {
    if (event.defaultPrevented || event.altKey || !this.draws) return; // another Board of the same points has done it
    const focused = this.root.contains(this.root.getRootNode().activeElement);
    const meant = (this.over || focused) && !typesText(event) && this.#act(event);
    if (meant || (!editsText(event) && this.#travelBy(event))) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** Undo or redo, wherever on the page the focus is; false for other keys. */
  #travelBy(event) {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y")) return false;
    if (key === "y" || event.shiftKey) this.redo();
    else this.undo();
    return true;
  }

  /** Do what a key means on the Board; false when it means nothing here. */
  #act(event) {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) return false;
    const label = Number(key) - 1;
    if (key.length === 1 && label >= 0 && label < CLASS_STYLES.length) {
      this.setClass(label);
      return true;
    }
    if (!this.scene.editable) return false;
    if (key === "delete" || key === "backspace") this.#deleteOne();
    else return false;
    return true;
  }

  #deleteOne() {
    const item = this.hovered ?? this.touched;
    if (!item || this.busy) return;
    this.beginEdit();
    this.#remove(new Set([item]));
    this.endEdit();
  }

  // ---- drawing ---------------------------------------------------------------------------------

  /** Draw now, with the theme as it is now. */
  redraw() {
    this.look = theme(this.root);
    this.#sync();
    this.#draw();
  }

  #invalidate() {
    this.drawFrame ??= requestAnimationFrame(() => this.#draw());
  }

  #resize() {
    const { clientWidth, clientHeight } = this.box;
    if (!clientWidth || !clientHeight) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.ratio = ratio;
    this.#draw(); // at once: a new size has emptied the canvas
  }

  /** The plot's rectangle within the canvas. */
  #layout() {
    const { clientWidth, clientHeight } = this.box;
    const [top, right, below] = this.compact ? [4, 4, 24] : [9, 12, 46];
    const size = { width: Math.max(1, clientWidth - 64 - right), height: Math.max(1, clientHeight - top - below) };
    if (this.frame.height !== size.height) this.frame = { ...this.frame, ...size };
    const before = roomForLabels(this.ctx, this.frame, this.view, this.look) - (this.compact ? ROOM_FOR_NAME : 0);
    this.frame = { left: before, top, before, below, width: Math.max(1, clientWidth - before - right), height: size.height };
  }

  #draw() {
    cancelAnimationFrame(this.drawFrame);
    this.drawFrame = null;
    if (!this.ratio) return;
    this.#layout();
    const { ctx, look, frame, view, scene } = this;
    const regression = scene.task === "regression";
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = look.background;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.#clipped(() => this.#drawModel(regression));
    drawAxes(ctx, frame, view, this.compact ? [] : scene.axes, look);
    this.#clipped(() => {
      const place = (x, y) => this.toPixel(x, y);
      this.underlay?.(ctx, place, this);
      drawPoints(ctx, this.items, { place, look, radius: this.radius, hovered: this.hovered, regression });
      this.#drawBrush();
      this.overlay?.(ctx, place, this);
    });
    this.#showReadout();
    this.#publish();
  }

  #clipped(paint) {
    const { ctx, frame } = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(frame.left, frame.top, frame.width, frame.height);
    ctx.clip();
    paint();
    ctx.restore();
  }

  #drawModel(regression) {
    if (!this.model) return;
    const picture = regression ? this.tube : this.regions;
    picture.update(this.model, this.view, this.frame, this.look);
    picture.draw(this.ctx, this.frame, this.look);
  }

  #usesBrush() {
    return this.scene.editable && (this.tool === "spray" || this.tool === "erase");
  }

  #drawBrush() {
    if (this.#usesBrush() && this.pointer) drawBrush(this.ctx, ...this.pointer, BRUSH_RADIUS, this.look);
  }

  /** Coordinates and decision value under the pointer. */
  #showReadout() {
    const text = this.pointer && this.inFrame(this.pointer) ? this.#readoutText() : "";
    if (this.readout.textContent !== text) this.readout.textContent = text;
    this.readout.hidden = text === "";
  }

  #readoutText() {
    const { hovered, scene, model } = this;
    const [x, y] = hovered ? [hovered.x, hovered.y] : this.toData(...this.pointer);
    const [x0, x1] = this.view;
    const digits = Math.max(0, Math.min(6, 3 - Math.ceil(Math.log10(x1 - x0))));
    const parts = [`${scene.axes[0]} = ${boardNumber(x, digits)}`, `${scene.axes[1]} = ${boardNumber(y, digits)}`];
    if (model && model.functions.length === 1) {
      const point = scene.task === "regression" ? [x] : [x, y];
      parts.push(`f = ${boardNumber(decisionValues(model, point)[0], 2)}`);
    }
    if (hovered) parts.unshift(`point ${this.items.indexOf(hovered) + 1}`);
    return parts.join("   ");
  }

  /** What tests and assistive technology read. */
  #publish() {
    const { dataset } = this.host;
    dataset.points = String(this.items.length);
    dataset.view = this.view.map((v) => Number(v.toPrecision(8))).join(" ");
    dataset.zoomed = String(this.zoom !== null);
    dataset.tool = this.tool;
    dataset.activeClass = String(this.activeClass);
    dataset.ready = "true";
    const label = `${this.name} with ${this.items.length} points`;
    if (this.canvas.getAttribute("aria-label") !== label) this.canvas.setAttribute("aria-label", label);
  }

  #showMessage() {
    const invitation = this.scene.editable && !this.items.length ? `${isTouched() ? "Tap" : "Click"} anywhere to draw the first point.` : "";
    const text = this.message ?? invitation;
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.hidden = text === "";
  }

  /** Bring bar, legend, message and cursor in line. */
  #sync() {
    this.toolbar.update();
    this.legend.update(this);
    this.#showMessage();
    this.canvas.dataset.tool = this.tool;
    this.onChange(this);
  }

  destroy() {
    cancelAnimationFrame(this.drawFrame);
    cancelAnimationFrame(this.editFrame);
    document.removeEventListener("keydown", this.onKey);
    this.observer.disconnect();
    this.gestures.destroy();
    this.root.remove();
  }
}
