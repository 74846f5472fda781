// The page of a path: the Board over a slider for the parameter, and beside it words, numbers and the chart.

const SLIDE_STEPS = 2000;
const SLIDE_SECONDS = 12; // that the whole path takes to play
const SLIDE_DIGITS = 4;
const SURVEY_PATIENCE = 250; // milliseconds after the last move in which nothing is computed beside it
const SURVEY_SLICE = 8; // milliseconds of computing at a time

const SLIDE_MARKUP = `
  <div class="geometry-board"></div>
  <div class="geometry-side">
    <div class="geometry-made" aria-live="polite"><b></b> <span></span></div>
    <dl class="slide-numbers"></dl>
    <div class="slide-faultless"><span></span> <button type="button" class="slide-ask">Go there</button></div>
    <div class="slide-chart"></div>
    <div class="slide-survey"></div>
  </div>
  <div class="geometry-bar">
    <label class="geometry-number"><span data-name></span> <input type="text" inputmode="decimal" data-value="parameter"></label>
    <div class="geometry-track">
      <input type="range" min="0" max="${SLIDE_STEPS}" step="1" value="0">
      <canvas class="slide-marks" aria-hidden="true"></canvas>
      <span class="geometry-end geometry-low"></span><span class="geometry-end geometry-high"></span>
    </div>
    ${transportButtons("To the breakpoint before", "To the next breakpoint", ["back", "play", "next"])}
    <div class="geometry-hint" role="status"></div>
  </div>`;

class SlideView {
  /**
   * @param {HTMLElement} host
   * @param {{onEdit?: (points: number[][]) => void, onValue?: (value: object) => void, onAsk?: (ask: object) => void}}
   *   callbacks `onEdit` after every edit on the Board, `onValue` with {parameter, value} whenever a value has been
   *   chosen, `onAsk` with {key} of the path whose leave-one-out error is wanted, for each part
   */
  constructor(host, { onEdit = () => {}, onValue = () => {}, onAsk = () => {} } = {}) {
    Object.assign(this, { host, onValue, onAsk });
    this.state = null; // PathState
    this.key = null; // of the path that it was made of
    this.late = null; // data whose path has not come yet
    this.running = false; // the leave-one-out error is being computed, part by part
    this.updates = 0;
    this.hint = "";
    host.innerHTML = `<div class="geometry-root"><div class="geometry slide" data-ready="false">${SLIDE_MARKUP}</div></div>`;
    this.root = host.querySelector(".geometry");
    this.board = new Board(this.find(".geometry-board"), { onEdit });
    this.board.setOverlay((ctx, toPixel, board) => this.#paintNamed(ctx, toPixel, board));
    const choose = (value) => {
      this.transport.stop();
      this.choose(value);
    };
    const dragged = { onChoose: choose, onDone: () => this.#tell() };
    this.chart = new PathChart(this.find(".slide-chart"), dragged);
    this.survey = new SurveyChart(this.find(".slide-survey"), dragged);
    this.#addLeaveOneOut();
    this.find(".slide-faultless button").addEventListener("click", () => this.#stand(this.state?.path.faultless ?? undefined));
    this.slider = this.find(".geometry-track input");
    this.input = this.find("[data-value=parameter]");
    this.transport = this.#transport();
    this.marks = this.find(".slide-marks");
    this.#listen();
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  #listen() {
    this.input.addEventListener("change", () => this.#typed(Number(this.input.value.trim().replace(",", "."))));
    this.observer = new ResizeObserver(() => this.#paintMarks());
    this.observer.observe(this.marks);
    this.onPath = () => {
      if (!this.late) return;
      this.update(this.late);
      this.board.redraw();
    };
    window.addEventListener("svmviz-path", this.onPath);
  }

  #transport() {
    const words = this.find(".geometry-made");
    return new Transport(this.root, {
      slider: this.slider,
      isOn: () => this.state !== null,
      acts: {
        first: () => this.#stand(this.state?.path.start),
        back: () => this.#stand(this.state?.nextBreak(-1)?.value),
        play: () => (this.transport.isRunning ? this.#rest() : this.#play()),
        next: () => this.#stand(this.state?.nextBreak(1)?.value),
        last: () => this.#stand(this.state?.path.stop),
      },
      onScrub: (place) => {
        this.transport.stop();
        words.setAttribute("aria-live", "off"); // nobody wants to hear every value on the way
        if (this.state) this.choose(this.state.valueAt(place / SLIDE_STEPS));
      },
      onScrubbed: () => {
        words.setAttribute("aria-live", "polite");
        this.#tell();
      },
    });
  }

  /** Go to a value, if there is one, and stay there. */
  #stand(value) {
    this.transport.stop();
    if (value === undefined) return;
    this.choose(value);
    this.#tell();
  }

  /** Let the parameter grow, evenly along the slider; from its start where it is at its end. */
  #play() {
    if (!this.state) return;
    let place = this.state.placeOf(this.state.value);
    if (place >= 1) place = 0;
    this.find(".geometry-made").setAttribute("aria-live", "off");
    this.transport.run((elapsed) => {
      place = Math.min(1, place + elapsed / (1000 * SLIDE_SECONDS));
      this.choose(this.state.valueAt(place));
      if (place >= 1) this.#rest();
    });
    this.#showBar();
  }

  #rest() {
    this.transport.stop();
    this.find(".geometry-made").setAttribute("aria-live", "polite");
    this.#showBar();
    this.#tell();
  }

  /** Bar and button of the leave-one-out error, beside the names of the survey. */
  #addLeaveOneOut() {
    this.bar = element("progress", "");
    this.bar.setAttribute("aria-label", "Leave-one-out error computed");
    this.asking = element("button", "slide-ask", "");
    this.asking.type = "button";
    this.asking.addEventListener("click", () => {
      this.running = !this.running;
      if (this.running) {
        this.survey.show("errors");
        this.onAsk({ key: this.key });
      }
      this.#showLeaveOneOut();
    });
    const place = element("span", "slide-asking");
    place.append(this.bar, this.asking);
    this.survey.heading.after(place);
    this.survey.heading.after(this.survey.tools);
  }

  get ids() {
    return this.board.ids;
  }

  get points() {
    return this.board.points;
  }

  setScene(scene) {
    this.board.setScene(scene);
  }

  /**
   * Take new data; the Board has its points already. Their path may come later.
   * @param {{meta: object, ids: ?number[], settled: boolean}} data ids of the points that meta.path is about, as of
   *   then; settled: Python has answered all that was asked
   */
  update(data) {
    const { meta, settled = true } = data;
    this.host.style.height = "auto"; // the style sheet knows: a given height, or all that a phone needs
    const { height = 620 } = meta;
    this.root.style.setProperty("--geometry-height", typeof height === "string" ? height : `${height}px`);
    this.look = theme(this.root);
    const style = chartStyle(this.look);
    this.root.style.setProperty("--pair", style.accent);
    this.chart.setStyle(style);
    this.survey.setStyle(style);
    const ids = data.ids ?? this.board.ids;
    const entry = meta.path ?? null;
    const path = entry && window.svmvizPaths?.get(entry.key);
    this.late = entry && !path ? { ...data, ids } : null;
    if (this.late) return;
    this.pathIds = ids;
    this.#take(entry, path, meta);
    this.#goOn(entry, settled);
    this.root.dataset.ready = String(this.state !== null);
    if (this.state) this.#showRange();
    this.refresh();
    this.#surveyOn();
  }

  /** A path that has changed; the value stays where the person left it, unless Python has replaced the points. */
  #take(entry, path, { task, revision }) {
    const replaced = revision !== this.revision;
    this.revision = revision;
    if ((entry?.key ?? null) === this.key) return;
    this.key = entry?.key ?? null;
    this.running = false;
    this.transport.stop();
    const before = this.state;
    this.state = entry && new PathState(path, entry.value, task === "regression");
    if (this.state && !replaced && before?.path.parameter === path.parameter && before.path.model.machine === path.model.machine) this.state.go(before.value);
    this.wanted = this.state?.value; // not one of the path before
  }

  /** Take what is known of the leave-one-out error, and ask for the next part. */
  #goOn(entry, settled) {
    if (!this.state) return;
    this.state.leftOut = entry.left_out ?? null;
    this.state.refused = entry.refused ?? null;
    this.state.note = entry.note ?? null;
    const { known, total } = this.state.leftOut ?? { known: [], total: 0 };
    if (known.length >= total) this.running = false;
    if (this.running && settled) this.onAsk({ key: this.key });
    this.#showLeaveOneOut();
  }

  #showLeaveOneOut() {
    const { known = [], total = 0 } = this.state?.leftOut ?? {};
    const { bar, asking, running } = this;
    bar.max = total || 1;
    bar.value = known.length;
    bar.hidden = !running;
    asking.hidden = Boolean(total) && known.length >= total;
    asking.disabled = !total;
    setText(asking, running ? "Stop" : known.length ? "Go on" : "Leave one out");
    asking.title = this.state?.refused
      ?? `Leaves out every sample in turn, at ${total} values of ${SLIDE_SIGNS[this.state?.path.parameter] ?? ""}, exactly.`;
    this.root.dataset.leftOut = String(known.length);
  }

  /** Errors and widths along the path, computed while nothing moves. */
  #surveyOn() {
    if (!this.state || this.state.isSurveyed || this.surveying) return;
    this.surveying = true;
    setTimeout(() => {
      this.surveying = false;
      if (this.gone || !this.state) return;
      if (performance.now() - (this.moved ?? -Infinity) > SURVEY_PATIENCE) {
        const until = performance.now() + SURVEY_SLICE;
        this.state.surveyOn(() => performance.now() < until);
        this.survey.draw();
      }
      this.#surveyOn();
    }, 20);
  }

  // ---- the value ---------------------------------------------------------------------------------

  /** The person chose a value: show it at the next frame. */
  choose(value) {
    this.wanted = value;
    this.moved = performance.now();
    this.hint = "";
    this.scheduled ??= requestAnimationFrame(() => {
      this.scheduled = null;
      if (!this.state) return;
      this.state.go(this.wanted);
      this.state.note = null; // that the value was moved into its range
      this.refresh();
      this.board.redraw();
    });
  }

  /** A value has been chosen: the workspace keeps it. */
  #tell() {
    if (this.state) this.onValue({ parameter: this.state.path.parameter, value: this.wanted ?? this.state.value });
  }

  #typed(value) {
    if (!this.state) return;
    const { start, stop, parameter } = this.state.path;
    if (value >= start && value <= stop) {
      this.choose(value);
      this.#tell();
      return;
    }
    this.input.value = this.#shownValue();
    this.hint = `This path has ${SLIDE_SIGNS[parameter]} from ${readableNumber(start, 3)} to ${readableNumber(stop, 3)}: type a number between.`;
    this.#showBar();
  }

  // ---- what is shown -----------------------------------------------------------------------------

  /** Show the machine at its value; the Board draws itself after this. */
  refresh() {
    this.#showOnBoard();
    this.#showBar();
    this.#showWords();
    this.chart.set(this.state);
    this.survey.set(this.state);
    this.#paintMarks();
    this.#publish();
  }

  #showOnBoard() {
    const { state, board } = this;
    if (!state) {
      board.setModel(null);
      board.setStatus(null);
      return;
    }
    const { model } = state.path;
    board.setModel(state.picture && { kernel: model.kernel, centres: state.centres, ...state.picture });
    const spread = new Array(this.pathIds.length).fill(0);
    state.status().forEach((one, m) => { spread[state.path.rows[m]] = one; });
    board.setStatus(spread, this.pathIds);
  }

  /** What stays while the slider moves. */
  #showRange() {
    const { start, stop, parameter } = this.state.path;
    const sign = SLIDE_SIGNS[parameter];
    setText(this.find("[data-name]"), sign);
    this.input.setAttribute("aria-label", sign);
    this.slider.setAttribute("aria-label", sign);
    setText(this.find(".geometry-low"), readableNumber(start, 3));
    setText(this.find(".geometry-high"), readableNumber(stop, 3));
    const [words, button] = this.find(".slide-faultless").children;
    setText(words, faultlessWords(this.state));
    button.hidden = this.state.path.faultless === null;
  }

  #showBar() {
    const { state } = this;
    if (!state) return;
    const text = `${SLIDE_SIGNS[state.path.parameter]} = ${readableNumber(state.value, SLIDE_DIGITS)}`;
    this.transport.show({
      value: SLIDE_STEPS * state.placeOf(state.value),
      most: SLIDE_STEPS,
      text,
      isPlaying: this.transport.isRunning,
      goesBack: state.nextBreak(-1) !== null,
      goesOn: state.nextBreak(1) !== null,
    });
    setInput(this.input, this.#shownValue());
    const about = `${countOf(state.breaks.length, "breakpoint")} (ticks): between two of them ${betweenWords(state)}.`;
    setText(this.find(".geometry-hint"), this.hint || [state.note, state.path.note, about].filter(Boolean).join(" "));
  }

  /** The value as the box has it. */
  #shownValue() {
    return String(Number(this.state.value.toPrecision(SLIDE_DIGITS)));
  }

  #showWords() {
    const { state } = this;
    const [head, text] = this.find(".geometry-made").children;
    const words = state ? state.unseenWords() ?? breakWords(state) : { head: "", text: "" };
    setText(head, words.head);
    setText(text, words.text);
    const place = this.find(".slide-numbers");
    const numbers = state ? state.numbers() : [];
    if (place.children.length !== 2 * numbers.length) place.replaceChildren(...numbers.flatMap(() => [element("dt", ""), element("dd", "")]));
    numbers.flat().forEach((one, k) => setText(place.children[k], one));
  }

  /** A wide ring and the name of every point that the words name. */
  #paintNamed(ctx, toPixel, board) {
    const { state } = this;
    const near = state?.breaks[state.nearestBreak()];
    if (!near || !this.look) return;
    const { accent } = chartStyle(this.look);
    for (const [sample] of near.events.slice(0, SLIDE_TOLD)) {
      const item = board.items[board.ids.indexOf(this.pathIds[state.path.rows[sample]])];
      if (item) paintCalled(ctx, board, toPixel(item.x, item.y), board.radius + 8, accent, sampleName(state, sample), 1);
    }
  }

  /** A tick for each breakpoint under the slider; the nearest is longer. */
  #paintMarks() {
    const { state, marks, look } = this;
    const [width, height] = [marks.clientWidth, marks.clientHeight];
    if (!state || !look || !width) return;
    const ratio = window.devicePixelRatio || 1;
    const size = [Math.round(width * ratio), Math.round(height * ratio)];
    if (marks.width !== size[0] || marks.height !== size[1]) [marks.width, marks.height] = size;
    const ctx = marks.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    const style = chartStyle(look);
    const at = ({ value }) => Math.min(width - 1, Math.round(state.placeOf(value) * (width - 1))) + 0.5;
    ctx.lineWidth = 1;
    ctx.strokeStyle = withAlpha(look.text, state.breaks.length > width / 6 ? 0.45 : 0.75);
    for (const one of state.breaks) strokeSegment(ctx, at(one), 0, at(one), 0.6 * height);
    const near = state.breaks[state.nearestBreak()];
    if (!near) return;
    ctx.lineWidth = 3;
    ctx.strokeStyle = style.accent;
    strokeSegment(ctx, at(near), 0, at(near), height);
  }

  /** What tests read. */
  #publish() {
    this.updates += 1;
    const { dataset } = this.root;
    dataset.updates = String(this.updates);
    dataset.value = this.state ? String(this.state.value) : "";
    dataset.parameter = this.state?.path.parameter ?? "";
  }

  destroy() {
    this.gone = true;
    cancelAnimationFrame(this.scheduled);
    window.removeEventListener("svmviz-path", this.onPath);
    this.observer.disconnect();
    this.transport.destroy();
    this.chart.destroy();
    this.survey.destroy();
    this.board.destroy();
  }
}
