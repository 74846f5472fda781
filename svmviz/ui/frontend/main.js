// The component: keeps one live Board or Player for each place it is mounted in, and talks to Python.

const WATCHDOG = 3000; // milliseconds after which an unanswered edit is sent again
const RETRIES_IN_SILENCE = 2; // after these the person is told
const liveStages = new WeakMap(); // parentElement -> Stage

/** Sends edits, or other values, to Python: one in flight, the latest wins. */
class EditGate {
  constructor(send, ack, onSilence = () => {}) {
    Object.assign(this, { send, onSilence });
    this.retries = 0;
    this.seq = this.heard = ack; // of the last edit made here, and of the last that was answered
    this.inFlight = null; // sequence number waiting for its answer
    this.waiting = null; // what is not sent yet, with its sequence number
    this.timer = null;
  }

  /** A new edit {revision, points}, or another value; returns its sequence number. */
  push(value) {
    this.seq += 1;
    this.waiting = { ...value, seq: this.seq };
    if (this.inFlight === null) this.#flush();
    return this.seq;
  }

  /** Python has handled everything up to `ack`. */
  acknowledge(ack) {
    if (ack > this.heard) this.retries = 0; // slow, but not silent
    this.heard = Math.max(this.heard, ack);
    this.seq = Math.max(this.seq, ack);
    if (this.inFlight === null || ack < this.inFlight.seq) return;
    this.retries = 0;
    clearTimeout(this.timer);
    this.inFlight = null;
    if (this.waiting) this.#flush();
  }

  /** The edit that Python may not have seen, or null. */
  get unanswered() {
    return this.waiting ?? this.inFlight;
  }

  /** Forget edits that belong to an older revision. */
  reset() {
    clearTimeout(this.timer);
    this.inFlight = null;
    this.waiting = null;
    this.retries = 0;
  }

  #flush() {
    this.inFlight = this.waiting;
    this.waiting = null;
    this.send(this.inFlight);
    this.timer = setTimeout(() => this.#retry(), WATCHDOG);
  }

  #retry() {
    this.retries += 1;
    if (this.retries >= RETRIES_IN_SILENCE) this.onSilence();
    // A count makes the value new, so that Python is called again; the first answer to come counts for all.
    this.waiting ??= { ...this.inFlight, again: this.retries };
    this.#flush();
  }
}

/** The style sheet (STAGE_CSS is put before the scripts), shared by all stages. */
function stageStyle() {
  if (!stageStyle.sheet) {
    stageStyle.sheet = new CSSStyleSheet();
    stageStyle.sheet.replaceSync(STAGE_CSS);
  }
  return stageStyle.sheet;
}

/** After a choice in a list, on a slider or of a switch the keys would stay there: the pointer brings them back. */
function releaseFocus() {
  const focused = document.activeElement;
  if (focused?.matches('[role=combobox]:not([aria-expanded=true]), [role=slider], input[type=range], input[type=checkbox]')) focused.blur();
}

/** One mounted component. */
class Stage {
  constructor(component, meta) {
    component.parentElement.adoptedStyleSheets = [stageStyle()];
    this.root = component.parentElement.querySelector(".stage");
    this.mode = meta.mode;
    this.revision = null;
    this.sent = new Map(); // sequence number -> ids of the points it told of
    this.model = null;
    this.component = component;
    const send = (edit) => this.component.setStateValue("edit", edit);
    const onSilence = () => this.#say("The server does not answer: reload the page.");
    this.gate = new EditGate(send, meta.ack ?? 0, onSilence);
    const gate = (name) => new EditGate((value) => this.component.setStateValue(name, value), meta[`${name}_ack`] ?? 0, onSilence);
    [this.muGate, this.weightGate] = [gate("mu"), gate("weights")];
    [this.valueGate, this.askGate] = [gate("value"), gate("ask")];
    const onEdit = (points) => this.#edited(points);
    if (meta.mode === "player") {
      const onStep = (position) => this.component.setStateValue("position", position);
      this.view = new Player(this.root, { onEdit, onStep });
    } else if (meta.mode === "geometry") {
      const onMu = (mu) => this.muGate.push({ mu });
      const onWeights = (weights) => this.weightGate.push({ weights });
      this.view = new GeometryView(this.root, { onEdit, onMu, onWeights });
    } else if (meta.mode === "unlearn") {
      this.view = new Unlearn(this.root, { onEdit, onAsk: (ask) => this.askGate.push({ ...ask, revision: this.revision }) });
    } else if (meta.mode === "compare") {
      this.view = new Compare(this.root, { onEdit });
    } else if (meta.mode === "slide") {
      const [onValue, onAsk] = [this.valueGate, this.askGate].map((to) => (value) => to.push(value));
      this.view = new SlideView(this.root, { onEdit, onValue, onAsk });
    } else {
      this.view = new Board(this.root, { onEdit });
    }
    this.root.addEventListener("pointerenter", releaseFocus);
    // Read-only, for tests.
    Object.defineProperty(this.root, "svmviz", { value: this.view, configurable: true });
    const gates = [this.gate, this.muGate, this.weightGate, this.valueGate, this.askGate];
    const isUnanswered = () => gates.some(({ unanswered }) => unanswered !== null);
    Object.defineProperty(this.root, "unanswered", { get: isUnanswered, configurable: true });
  }

  #say(sentence) {
    (this.view.board ?? this.view).setMessage(sentence);
  }

  #edited(points) {
    const seq = this.gate.push({ revision: this.revision, points });
    this.sent.set(seq, this.view.ids ?? null);
    this.root.dataset.seq = String(seq);
  }

  /** Take what Python has sent: new points only with a new revision, otherwise the answer to an edit. */
  update(component, meta, steps) {
    this.component = component;
    const height = meta.height ?? 600; // pixels, or a length in CSS such as "calc(100dvh - 70px)"
    this.root.style.height = typeof height === "string" ? height : `${height}px`;
    const fresh = this.revision === null || meta.revision > this.revision;
    if (fresh) {
      this.gate.reset();
      this.sent.clear();
    }
    const first = this.revision === null;
    this.revision = Math.max(meta.revision, this.revision ?? -Infinity);
    this.gate.acknowledge(meta.ack ?? 0);
    this.muGate.acknowledge(meta.mu_ack ?? 0);
    this.weightGate.acknowledge(meta.weights_ack ?? 0);
    this.valueGate.acknowledge(meta.value_ack ?? 0);
    this.askGate.acknowledge(meta.ask_ack ?? 0);
    if (this.mode === "player") this.view.update({ meta, steps, fresh });
    else if (this.mode === "unlearn") this.view.update({ meta, steps, fresh, settled: this.askGate.unanswered === null, current: this.gate.unanswered === null });
    else if (this.mode === "compare") this.#updateCompare(meta, fresh);
    else this.#updateBoard(meta, fresh);
    if (first) {
      this.#adoptUnsent(meta);
      this.#takeUpHistory(meta);
    }
    this.root.dataset.revision = String(meta.revision);
    this.root.dataset.ack = String(meta.ack ?? 0);
  }

  #updateBoard(meta, fresh) {
    const board = this.view.board ?? this.view;
    const answered = meta.model?.for ?? meta.geometry?.for ?? meta.path?.for ?? meta.ack ?? 0;
    const scene = { axes: meta.axes, classNames: meta.classes, editable: meta.editable ?? true, limit: meta.limit };
    if (fresh) Object.assign(scene, { task: meta.task, points: meta.points, view: meta.view });
    board.setScene(scene);
    if (fresh) this.sent.set(answered, board.ids);
    const ids = this.sent.get(meta.geometry?.for) ?? null;
    this.#updateModel(meta, board);
    board.setMessage(meta.message);
    if (this.mode === "geometry") this.view.update({ meta, ids, ...this.#settled() });
    if (this.mode === "slide") this.view.update({ meta, ids: this.sent.get(meta.path?.for) ?? null, settled: this.askGate.unanswered === null });
    board.redraw();
    this.#forget(answered);
    this.root.dataset.modelSeq = String(answered);
  }

  #updateCompare(meta, fresh) {
    this.view.update({ meta, fresh, ids: this.sent.get(meta.for) ?? null });
    if (fresh) this.sent.set(meta.for, this.view.ids);
    this.#forget(meta.for);
    this.root.dataset.modelSeq = String(meta.for);
  }

  /** Drop what is known of the edits before the one that has been answered. */
  #forget(answered) {
    for (const seq of this.sent.keys()) if (seq < answered) this.sent.delete(seq);
  }

  /** Whether no mu, no weights, and nothing at all is on its way to Python. */
  #settled() {
    const [points, settled, weightsSettled] = [this.gate, this.muGate, this.weightGate].map(({ unanswered }) => unanswered === null);
    return { settled, weightsSettled, current: points && settled && weightsSettled };
  }

  #updateModel(meta, board) {
    // An unchanged model keeps its identity, and with it everything the Board has computed for it.
    const text = JSON.stringify(meta.model ?? null);
    if (text === this.modelText) return;
    this.modelText = text;
    board.setModel(meta.model?.regions === false ? null : meta.model);
    board.setStatus(meta.model?.status ?? null, this.sent.get(meta.model?.for) ?? null);
  }

  /** Edits that a page switch cut off: taken up again when the points are still the same revision. */
  #adoptUnsent(meta) {
    const unsent = window.svmvizUnsent;
    delete window.svmvizUnsent;
    if (!unsent || unsent.revision !== meta.revision || Date.now() - unsent.time > 10000) return;
    this.view.setScene?.({ points: unsent.points });
    this.#edited(unsent.points);
  }

  /** What can be undone belongs to the points, not to the page: the Board of the page before has left it. */
  #takeUpHistory({ revision }) {
    const left = window.svmvizHistory;
    delete window.svmvizHistory;
    if (left?.revision === revision) this.sheet.takeUp(left.history);
  }

  /** The Board on which the points are drawn. */
  get sheet() {
    return this.view.lead ?? this.view.board ?? this.view;
  }

  /** Say that something went wrong, without a stack trace; the developer's console has it. */
  fail(error) {
    console.error(error);
    this.root.dataset.failed = String(error);
    (this.view.board ?? this.view).setModel(null);
    this.#say("This could not be drawn: undo the last change, or reload the page.");
  }

  destroy() {
    const unsent = this.gate.unanswered;
    window.svmvizHistory = { revision: this.revision, history: this.sheet.history };
    if (unsent) window.svmvizUnsent = { revision: unsent.revision, points: unsent.points, time: Date.now() };
    this.gate.reset();
    this.muGate.reset();
    this.weightGate.reset();
    this.valueGate.reset();
    this.askGate.reset();
    this.view.destroy();
  }
}

/** Called on mounting and again whenever the data or the theme change; the returned function on unmounting. */
function stage(component) {
  const { parentElement, data } = component;
  const meta = data.meta ?? data;
  let live = liveStages.get(parentElement);
  if (live && live.mode !== meta.mode) {
    live.destroy();
    live = null;
  }
  if (!live) {
    live = new Stage(component, meta);
    liveStages.set(parentElement, live);
  }
  try {
    live.update(component, meta, data.steps ?? null);
  } catch (error) {
    live.fail(error);
  }
  return () => {
    live.destroy();
    if (liveStages.get(parentElement) === live) liveStages.delete(parentElement);
  };
}

/** The code's own component shows nothing: it leaves the stage where loader.js finds it. */
export default function provide(component) {
  hideRow(component);
  if (window.svmvizStage) return;
  window.svmvizStage = stage;
  window.dispatchEvent(new Event("svmviz-stage"));
}
