// Pointer gestures on the Board's canvas: mouse, pen and touch.

const BRUSH_RADIUS = 26; // pixels, Spray and Erase
const SPRAY_INTERVAL = 45; // milliseconds between two sprayed points
const CLICK_SLACK = 3; // pixels a pointer may wander during a click
const WHEEL_ZOOM = 0.0016;

/** A normally distributed number (Box and Muller). */
function normalNumber() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

/** Turns pointer events into edits and changes of the view. One gesture at a time. */
class Gestures {
  constructor(board, canvas) {
    this.board = board;
    this.canvas = canvas;
    this.pointers = new Map(); // pointer id -> [x, y]
    this.gesture = null;
    const on = (type, handler, options) => canvas.addEventListener(type, handler, options);
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#up(event));
    on("pointercancel", (event) => this.#cancel(event));
    on("pointerleave", () => board.hover(null));
    on("contextmenu", (event) => event.preventDefault());
    on("mousedown", (event) => event.button === 1 && event.preventDefault()); // no automatic scrolling
    on("wheel", (event) => this.#wheel(event), { passive: false });
  }

  /** True while a pointer draws, moves, erases or pans. */
  get busy() {
    return this.gesture !== null;
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #reach(event) {
    return event.pointerType === "touch" ? 22 : this.board.radius + 4;
  }

  #down(event) {
    const at = this.#place(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.pointers.set(event.pointerId, at);
    event.preventDefault();
    if (this.pointers.size === 2) return this.#beginPinch();
    if (this.gesture || this.pointers.size > 2) return undefined;
    return this.#begin(event, at);
  }

  #begin(event, at) {
    const { board } = this;
    if (event.button === 2) return board.removeAt(at, this.#reach(event));
    if (event.button === 1 || board.tool === "pan" || !board.scene.editable) {
      this.gesture = { kind: "pan", last: at, start: at, moved: false };
      return undefined;
    }
    if (!board.inFrame(at)) return undefined;
    board.beginEdit();
    if (board.tool === "erase") return this.#beginErase(at);
    if (board.tool === "spray") return this.#beginSpray(at);
    return this.#beginDraw(at, this.#reach(event));
  }

  #beginDraw(at, reach) {
    const { board } = this;
    const hit = board.pointAt(at, reach);
    const point = hit ?? board.add(at);
    if (!point) return;
    const [x, y] = board.toPixel(point.x, point.y);
    this.gesture = { kind: "drag", point, start: at, grip: [at[0] - x, at[1] - y], moved: false, existed: hit !== null };
    board.touch(point);
  }

  #beginErase(at) {
    this.gesture = { kind: "erase" };
    this.board.eraseAt(at, BRUSH_RADIUS);
  }

  #beginSpray(at) {
    this.gesture = { kind: "spray", at, timer: setInterval(() => this.#spray(), SPRAY_INTERVAL) };
    this.#spray();
  }

  #spray() {
    const [x, y] = this.gesture.at;
    const spread = BRUSH_RADIUS / 2;
    this.board.add([x + spread * normalNumber(), y + spread * normalNumber()]);
  }

  /** A second finger: take back what the first one drew, then zoom and pan with both. */
  #beginPinch() {
    if (this.gesture && this.gesture.kind !== "pan") this.#abandon();
    this.gesture = { kind: "pinch", fingers: this.#fingers() };
  }

  #fingers() {
    const [[x0, y0], [x1, y1]] = [...this.pointers.values()];
    return { centre: [(x0 + x1) / 2, (y0 + y1) / 2], distance: Math.max(10, Math.hypot(x1 - x0, y1 - y0)) };
  }

  #move(event) {
    const at = this.#place(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, at);
    const { gesture, board } = this;
    board.hover(at, event.pointerType);
    if (!gesture) return;
    if (gesture.kind === "drag") this.#drag(at);
    else if (gesture.kind === "erase") board.eraseAt(at, BRUSH_RADIUS);
    else if (gesture.kind === "spray") gesture.at = at;
    else if (gesture.kind === "pan") this.#pan(at);
    else if (this.pointers.size >= 2) this.#pinch();
  }

  #drag(at) {
    const { gesture, board } = this;
    const far = Math.hypot(at[0] - gesture.start[0], at[1] - gesture.start[1]) > CLICK_SLACK;
    if (!far && !gesture.moved) return;
    gesture.moved = true;
    board.movePoint(gesture.point, [at[0] - gesture.grip[0], at[1] - gesture.grip[1]]);
  }

  #pan(at) {
    const { gesture, board } = this;
    gesture.moved ||= Math.hypot(at[0] - gesture.start[0], at[1] - gesture.start[1]) > CLICK_SLACK;
    if (!gesture.moved && board.onPick) return; // it may become a click on a point
    board.panBy(at[0] - gesture.last[0], at[1] - gesture.last[1]);
    gesture.last = at;
  }

  #pinch() {
    const { gesture, board } = this;
    const fingers = this.#fingers();
    const before = gesture.fingers;
    board.panBy(fingers.centre[0] - before.centre[0], fingers.centre[1] - before.centre[1]);
    board.zoomAt(fingers.centre, before.distance / fingers.distance);
    gesture.fingers = fingers;
  }

  #up(event) {
    this.pointers.delete(event.pointerId);
    const { gesture, board } = this;
    if (!gesture || (gesture.kind === "pinch" && this.pointers.size > 0)) return;
    // A click beside the middle of a point means a new point, not the old one.
    if (gesture.kind === "drag" && gesture.existed && !gesture.moved) this.#clickOnPoint(gesture);
    if (gesture.kind === "pan" && !gesture.moved && !board.scene.editable) board.pick(gesture.start, this.#reach(event));
    this.#end();
    board.endEdit();
    if (event.pointerType === "touch") board.hover(null);
  }

  #clickOnPoint({ point, start }) {
    const { board } = this;
    const [x, y] = board.toPixel(point.x, point.y);
    if (Math.hypot(start[0] - x, start[1] - y) > 0.6 * board.radius) board.add(start);
  }

  #cancel(event) {
    this.pointers.delete(event.pointerId);
    if (this.gesture) this.#abandon();
  }

  #abandon() {
    this.#end();
    this.board.revertEdit();
  }

  #end() {
    clearInterval(this.gesture.timer);
    this.gesture = null;
  }

  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 20 : 1;
    this.board.zoomAt(this.#place(event), Math.exp(WHEEL_ZOOM * lines * event.deltaY));
  }

  destroy() {
    if (this.gesture) this.#end();
  }
}
