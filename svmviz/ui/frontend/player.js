// The Player: plays a recorded trace forward and back, beside the Board.

const PLAYER_SPEEDS = { least: 0.5, most: 1000, start: 2, unit: "/s" };

const PLAYER_MARKUP = `
  <div class="player-stage">
    <div class="player-board"></div>
    <div class="player-why" role="status" aria-live="polite"><b></b> <span></span></div>
    <div class="player-switch" role="group" aria-label="What to show">
      <button type="button" data-show="charts" aria-pressed="true">Charts</button>
      <button type="button" data-show="steps" aria-pressed="false">Steps</button>
    </div>
    <div class="player-charts"><div></div><div></div><div></div><div></div></div>
    <div class="player-list" tabindex="0" role="listbox" aria-label="Steps"><div class="player-rows" role="presentation"></div></div>
  </div>
  <div class="player-bar" role="group" aria-label="Player">
    ${transportButtons("One step back", "One step")}
    <input class="player-scrub" type="range" min="0" max="0" step="1" value="0" aria-label="Position in the run">
    <output class="player-count"></output>
  </div>
  <div class="player-extra">
    ${transportSpeed("Speed in steps a second")}
    <label class="player-goto"><span>go to step</span> <input type="number" min="1" step="1" inputmode="numeric" aria-label="Go to step"></label>
  </div>`;

/** The player of a trace. The host is an empty div; the Player gives it its height. */
class Player {
  /**
   * @param {HTMLElement} host
   * @param {{onEdit?: function(Array), onStep?: function(number)}} callbacks `onEdit` after every edit on the
   *   Board, `onStep` with the position when the player comes to rest
   */
  constructor(host, { onEdit = () => {}, onStep = () => {} } = {}) {
    Object.assign(this, { host, onEdit, onStep });
    this.replay = null;
    this.traceId = null;
    this.position = 0;
    this.playing = false;
    this.stale = false;
    this.hovered = null;
    this.frames = [];
    this.wordsAt = 0;
    this.scheduled = 0;
    this.build();
    this.board = new Board(this.find(".player-board"), { onEdit: (points) => this.edited(points) });
    this.travel = new Travel(this.find(".player-board"), this.board);
    this.board.setOverlay((ctx, toPixel, board) => {
      if (!this.stale) this.travel.paint(ctx, toPixel, board);
      this.paintPair(ctx, toPixel, board.frame);
    });
    this.buildCharts();
    this.steps = new StepList(this.find(".player-list"), (position) => this.jump(position));
    this.listen();
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  build() {
    this.host.innerHTML = `<div class="player-root"><div class="player" data-position="0" data-steps="0" data-playing="false" data-fps="0" data-show="charts">${PLAYER_MARKUP}</div></div>`;
    this.root = this.host.querySelector(".player");
    this.goto = this.find(".player-goto input");
    this.transport = new Transport(this.root, {
      slider: this.find(".player-scrub"),
      speeds: PLAYER_SPEEDS,
      acts: {
        first: () => this.jump(0),
        back: () => this.jump(this.position - 1),
        play: () => this.toggle(),
        next: () => this.jump(this.position + 1),
        last: () => this.jump(this.last),
      },
      onScrub: (position) => {
        this.pause(false);
        this.seek(position);
      },
      onScrubbed: () => this.report(),
    });
  }

  /** The charts of a run, or of a walk. */
  buildCharts(isWalk = false) {
    if (this.charts && this.isWalk === isWalk) return;
    this.isWalk = isWalk;
    this.charts?.forEach((chart) => chart.destroy());
    const [pair, violations, multipliers, progress] = this.find(".player-charts").children;
    const zoom = new Zoom();
    const redraw = () => this.charts.forEach((chart) => chart.draw());
    const linked = { zoom, onZoom: redraw, onHover: (sample) => this.highlight(sample) };
    const scrubbed = { onSeek: (k) => this.seek(k), onSeekEnd: () => this.report() };
    this.charts = [
      isWalk ? new WalkEventChart(pair) : new PairChart(pair),
      new ViolationChart(violations, linked),
      new MultiplierChart(multipliers, linked),
      isWalk ? new WalkProgressChart(progress, scrubbed) : new ProgressChart(progress, scrubbed),
    ];
  }

  // ---- what comes from Python -------------------------------------------------------------------------------

  /**
   * Takes new data; also called when only the theme has changed.
   * @param {{meta: object, steps: ?object, fresh: boolean}} data meta: scene, model, message and trace (see
   *   ui/player.py); steps: the step columns, an Arrow table or an object of arrays; fresh: the Board takes
   *   over meta.points, otherwise it keeps its own
   */
  update({ meta, steps, fresh = true }) {
    this.host.style.height = "auto"; // the style sheet knows: a given height, or all that a phone needs
    const { height = 620 } = meta; // pixels, or a length in CSS
    this.root.style.setProperty("--player-height", typeof height === "string" ? height : `${height}px`);
    this.meta = meta;
    this.board.setScene(sceneOf(meta, fresh));
    this.board.setMessage(meta.message ?? null);
    this.style = chartStyle(theme(this.root));
    for (const chart of this.charts) chart.setStyle(this.style);
    this.root.style.setProperty("--pair", this.style.accent);
    this.setTrace(meta, steps);
    this.stale = !samePoints(meta.points, this.board.points);
    this.render();
    this.board.redraw();
    this.travel.redraw();
  }

  /** The Board's list of points, for the message gate. */
  get ids() {
    return this.board.ids;
  }

  setScene(scene) {
    this.board.setScene(scene);
  }

  setTrace(meta, steps) {
    const { trace, model } = meta;
    if (!trace || !model) {
      this.dropTrace();
      return;
    }
    if (trace.id === this.traceId) return;
    // Someone who looks at the result while drawing goes on looking at the result; everyone else starts anew.
    const atEnd = this.replay !== null && this.replay.length > 0 && this.position === this.replay.length;
    this.samples = trace.points ?? meta.points;
    const labels = this.samples.map((point) => point[2] ?? 0);
    this.buildCharts(Boolean(trace.walk));
    this.replay = replayOf(trace, steps, model.kernel, model.centres, labels, meta.task === "regression", model.owners);
    const first = this.begun ? 0 : this.#leftAt(trace.id) ?? trace.position ?? 0;
    this.begun = true;
    this.traceId = trace.id;
    this.hovered = null;
    this.pause(false);
    this.position = Math.min(atEnd ? this.replay.length : first, this.replay.length);
    for (const chart of this.charts) {
      chart.setStyle(this.style);
      chart.replay = this.replay;
      chart.hovered = null;
    }
    this.charts[3].zoom?.reset();
    this.steps.setReplay(this.replay);
    this.travel.setReplay(this.replay, meta, this.samples);
  }

  /** Where the same run stood before a page switch cut it off; null without one. */
  #leftAt(id) {
    const left = window.svmvizStep;
    delete window.svmvizStep;
    return left?.id === id ? left.position : null;
  }

  dropTrace() {
    this.pause(false);
    this.replay = null;
    this.traceId = null;
    this.position = 0;
    for (const chart of this.charts) chart.replay = null;
    this.steps.setReplay(null);
    this.travel.setReplay(null);
    this.board.setModel(null);
    this.board.setStatus(null);
    this.board.setSizes(null);
  }

  /** The person changed the points: the trace shown belongs to the points as they were. */
  edited(points) {
    this.stale = true;
    this.pause(false);
    this.onEdit(points);
  }

  // ---- going from position to position ----------------------------------------------------------------------

  get last() {
    return this.replay ? this.replay.length : 0;
  }

  /** Shows a position at the next animation frame. */
  seek(position) {
    const wanted = Math.min(Math.max(0, Math.round(position)), this.last);
    this.position = wanted;
    if (this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.render();
    });
  }

  /** Goes to a position and stays there. */
  jump(position) {
    this.pause(false);
    this.seek(position);
    this.report();
  }

  report() {
    if (this.replay) this.onStep(this.position);
  }

  play() {
    if (!this.replay || this.playing || this.last === 0) return;
    if (this.position >= this.last) this.position = 0;
    this.playing = true;
    this.due = 0;
    this.frames = [];
    this.showTransport();
    this.transport.run((elapsed, now) => this.tick(elapsed, now));
  }

  pause(report = true) {
    if (!this.playing) return;
    this.playing = false;
    this.transport.stop();
    this.showTransport();
    this.showWords();
    this.steps.show(this.position);
    if (report) this.report();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  tick(elapsed, now) {
    this.countFrame(now);
    this.due += (elapsed * this.transport.speed) / 1000;
    const whole = Math.floor(this.due + 1e-9);
    this.due -= whole;
    if (whole > 0) {
      this.position = Math.min(this.position + whole, this.last);
      this.render();
    }
    if (this.position >= this.last) this.pause();
  }

  /** Frames in the last second, for the tests. */
  countFrame(now) {
    this.frames.push(now);
    while (this.frames[0] <= now - 1000) this.frames.shift();
    const span = now - this.frames[0];
    const rate = span > 0 ? ((this.frames.length - 1) * 1000) / span : 0;
    this.root.dataset.fps = rate.toFixed(1);
  }

  // ---- drawing ----------------------------------------------------------------------------------------------

  render() {
    const { replay } = this;
    if (replay) {
      replay.seek(this.position);
      this.showOnBoard();
    }
    for (const chart of this.charts) chart.draw();
    this.showNumbers();
    if (!this.playing || this.wordsAreDue()) {
      this.showTransport();
      this.showWords();
      this.steps.show(this.position, this.playing);
    }
  }

  /** While it plays nobody can read sixty sentences a second: words, slider and list follow at fifteen. */
  wordsAreDue() {
    const now = performance.now();
    if (now - this.wordsAt < 60) return false;
    this.wordsAt = now;
    return true;
  }

  showOnBoard() {
    const { replay, meta } = this;
    const { model } = meta;
    const picture = model.regions === false ? null : readModel(replay, replay.modelHere(model));
    const lines = model.machine === "ad_svm" && model.owners.length > 2 ? [`boundary: ${model.parameters.nearest ? "nearest" : "own rule"}`] : undefined;
    this.board.setModel(picture && { kernel: model.kernel, centres: replay.centres, lines, ...picture });
    const status = replay.status();
    this.board.setStatus(this.stale ? null : this.onPoints(status));
    this.travel.update(status);
  }

  /** Values of the samples as values of the Board's points; a trace may leave some of them out. */
  onPoints(values) {
    const { rows } = this.meta.trace;
    if (!rows) return values;
    const spread = new Array(this.meta.points.length).fill(0);
    rows.forEach((row, sample) => { spread[row] = values[sample]; });
    return spread;
  }

  showWords() {
    const { replay } = this;
    const [head, text] = this.find(".player-why").children;
    const sentence = replay ? replay.sentence() : this.meta?.message ?? "";
    const number = sentence.match(/^(Step|Event) \d+ of \d+[^:]*:/)?.[0] ?? "";
    head.textContent = number;
    text.textContent = sentence.slice(number.length).trim();
  }

  /** What tests read. */
  showNumbers() {
    const { dataset } = this.root;
    dataset.position = this.position;
    dataset.steps = this.last;
    dataset.playing = this.playing;
    dataset.trace = this.traceId ?? "";
  }

  showTransport() {
    const { replay, playing } = this;
    this.showNumbers();
    const what = replay?.walk ? "event" : "step";
    const text = !replay ? "no steps" : this.position < this.last ? `${what} ${this.position + 1} of ${this.last}` : `end, ${countOf(this.last, what)}`;
    this.transport.show({ value: this.position, most: this.last, text, isPlaying: playing });
    this.find(".player-goto span").textContent = `go to ${what}`;
    this.goto.max = this.last;
    this.goto.placeholder = String(Math.min(this.position + 1, this.last));
    this.find(".player-why").setAttribute("aria-live", playing ? "off" : "polite");
  }

  /** Rings, names and arrows of what moves, on top of the Board. */
  paintPair(ctx, toPixel, frame) {
    const { replay, style } = this;
    if (!replay || !style || this.stale) return;
    if (this.hovered !== null) paintHoveredSample(ctx, style, toPixel(...this.pointOf(this.hovered)));
    const { pair, jump } = replay;
    const place = (d) => toPixel(...this.pointOf(replay.dual.sample[d]));
    if (pair) paintPairOnBoard(ctx, style, frame, replay, pair, place(pair.i), place(pair.j));
    if (jump) paintJumpOnBoard(ctx, style, frame, replay, jump, place);
    if (replay.walk) paintWalkOnBoard(ctx, this.board, style, replay, place);
  }

  /** Where a sample lies on the Board: in regression its target is the second coordinate. */
  pointOf(sample) {
    const [x, y] = this.samples[sample];
    return [x, y];
  }

  highlight(sample) {
    if (this.hovered === sample) return;
    this.hovered = sample;
    for (const chart of this.charts) {
      chart.hovered = sample;
    }
    this.charts[1].draw();
    this.charts[2].draw();
    this.board.redraw();
  }

  // ---- what the person does ---------------------------------------------------------------------------------

  listen() {
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.goto.addEventListener("change", () => this.goToStep());
    this.goto.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.goto.blur();
    });
  }

  clicked(event) {
    const button = event.target.closest("button");
    if (!button || !this.root.contains(button)) return;
    const { show } = button.dataset;
    if (show) this.show(show);
    if (show && event.detail > 0) button.blur();
  }

  /** Charts or the list of steps, where there is no room for both. */
  show(what) {
    this.root.dataset.show = what;
    for (const button of this.find(".player-switch").children) {
      button.setAttribute("aria-pressed", String(button.dataset.show === what));
    }
    this.steps.show(this.position);
  }

  goToStep() {
    const wanted = Math.round(Number(this.goto.value));
    if (this.goto.value !== "" && Number.isFinite(wanted)) this.jump(wanted - 1);
    this.goto.value = "";
  }

  setSpeed(speed) {
    this.transport.setSpeed(speed);
  }

  destroy() {
    this.pause(false);
    if (this.traceId) window.svmvizStep = { id: this.traceId, position: this.position };
    cancelAnimationFrame(this.scheduled);
    this.transport.destroy();
    for (const chart of this.charts) chart.destroy();
    this.steps.destroy();
    this.travel.destroy();
    this.board.destroy();
  }
}

/** The part of the data that the Board draws before any model; the points only when it is to take them over. */
function sceneOf(meta, fresh) {
  const scene = { axes: meta.axes, classNames: meta.classes, editable: meta.editable ?? true, limit: meta.limit };
  return fresh ? { ...scene, task: meta.task, points: meta.points, view: meta.view } : scene;
}

function samePoints(some, others) {
  return some.length === others.length && some.every((point, k) => point.every((value, axis) => value === others[k][axis]));
}
