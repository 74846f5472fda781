// The feature plane: samples projected from the space of a kernel, with what the geometry shows of them. To look at.

class FeaturePlane {
  /**
   * @param {HTMLElement} host an element that has a size; the plane fills it and follows it
   * @param {{onPointer?: (at: ?number[]) => void}} options onPointer is called with the pixel under the pointer, or
   *   null when it has left
   */
  constructor(host, { onPointer = () => {} } = {}) {
    this.host = host;
    this.items = [];
    this.geometry = {};
    this.axes = ["", ""];
    this.range = null; // {x, y, half}: what the view shows
    this.frame = { left: 0, top: 0, width: 1, height: 1, before: 0, below: 0 };
    this.root = element("div", "plane-box");
    this.canvas = element("canvas", "plane-canvas");
    this.canvas.setAttribute("role", "img");
    this.root.append(this.canvas);
    host.append(this.root);
    this.ctx = this.canvas.getContext("2d", { alpha: false });
    this.look = theme(this.root);
    const place = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.canvas.addEventListener("pointermove", (event) => onPointer(place(event)));
    this.canvas.addEventListener("pointerdown", (event) => onPointer(place(event)));
    this.canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && onPointer(null));
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(this.root);
  }

  /**
   * Set what the plane shows; `draw` then shows it.
   * @param {{items: object[], geometry: object, axes: string[], before: ?function}} picture items as `drawPoints`
   *   takes them; geometry as `paintGeometry` takes it; before(ctx, toPixel, look) paints beneath the prototypes
   */
  set({ items, geometry, axes, before = null }) {
    Object.assign(this, { items, geometry, axes, before });
    this.#follow();
  }

  /** All samples in view. The view stays while they fill it well: it must not tremble while a slider moves. */
  #follow() {
    if (!this.items.length) return;
    const [xs, ys] = [this.items.map(({ x }) => x), this.items.map(({ y }) => y)];
    const bounds = (values) => [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    const [[left, right], [bottom, top]] = [bounds(xs), bounds(ys)];
    const half = Math.max(right - left, top - bottom) / 2 || 1;
    const { range } = this;
    const fits = range && half > 0.72 * range.half && left > range.x - range.half && right < range.x + range.half &&
      bottom > range.y - range.half && top < range.y + range.half;
    if (!fits) this.range = { x: (left + right) / 2, y: (bottom + top) / 2, half: 1.14 * half };
  }

  /** The visible part [x0, x1, y0, y1], in equal units. */
  get view() {
    const { x, y, half } = this.range ?? { x: 0, y: 0, half: 1 };
    const unit = (2 * half) / Math.min(this.frame.width, this.frame.height);
    const [across, up] = [(unit * this.frame.width) / 2, (unit * this.frame.height) / 2];
    return [x - across, x + across, y - up, y + up];
  }

  toPixel(x, y) {
    const { left, top, width, height } = this.frame;
    const [x0, x1, y0, y1] = this.view;
    return [left + ((x - x0) / (x1 - x0)) * width, top + ((y1 - y) / (y1 - y0)) * height];
  }

  /** Draw now, with the theme as it is now. */
  redraw() {
    this.look = theme(this.root);
    this.draw();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.root;
    if (!clientWidth || !clientHeight) return;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    this.draw();
  }

  #layout() {
    const { clientWidth, clientHeight } = this.root;
    const [top, right, below] = [9, 12, 46];
    const height = Math.max(1, clientHeight - top - below);
    this.frame = { ...this.frame, width: Math.max(1, clientWidth - 64 - right), height };
    const before = roomForLabels(this.ctx, this.frame, this.view, this.look);
    this.frame = { left: before, top, before, below, width: Math.max(1, clientWidth - before - right), height };
  }

  draw() {
    if (!this.ratio) return;
    this.#layout();
    const { ctx, look, frame, items, geometry } = this;
    const place = (x, y) => this.toPixel(x, y);
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.fillStyle = look.background;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    drawAxes(ctx, frame, this.view, this.axes, look);
    ctx.save();
    ctx.beginPath();
    ctx.rect(frame.left, frame.top, frame.width, frame.height);
    ctx.clip();
    // Small marks and the hulls above them: projected samples crowd, and the hulls are what there is to see.
    drawPoints(ctx, items, { place, look, radius: markRadius(items.length, frame) - 2.5, hovered: null, regression: false });
    paintGeometry(ctx, look, place, frame, geometry);
    ctx.restore();
    this.canvas.setAttribute("aria-label", `Feature plane with ${items.length} samples`);
  }

  destroy() {
    this.observer.disconnect();
    this.root.remove();
  }
}
