// Unlearning and learning: a walk that takes a point's multiplier to zero, or from there, played on the Board.

const UNLEARN_SECONDS = 12; // that a long walk takes to play
const UNLEARN_PACE = 1.2; // stretches a second of a short one
const UNLEARN_SPEEDS = { least: 0.25, most: 8, start: 1, unit: "×" };
const FIRST_FRAME = 16; // milliseconds that the first one counts for: it moves at once
const FLASH = 0.7; // of a stretch, for which the point of an event stays marked
const FAINTEST = 0.3; // opacity of a point that has left
const NAMED = 3; // so many of those that matter most are named on the Board
const UNLEARN_START = ["Click a point to unlearn it. Or choose Learn, and click where a new one shall be.",
  "Tap a point to unlearn it. Or choose Learn, and tap where a new one shall be."]; // by mouse, and by finger
const IN_TURN = { everyone: "Leave out everyone", folds: "Fold by fold" };

const UNLEARN_MARKUP = `
  <div class="unlearn-board"></div>
  <div class="unlearn-side">
    <div class="player-why unlearn-why" role="status" aria-live="polite"></div>
    <div class="unlearn-numbers"><span class="unlearn-sets"></span><b class="unlearn-share"></b></div>
    <div class="unlearn-pick">
      <label>unlearn point <input type="number" min="1" step="1" inputmode="numeric" aria-label="Unlearn the point of this number"></label>
      <span role="status"></span>
    </div>
    <div class="unlearn-list" tabindex="0" role="listbox" aria-label="Events of the walk"></div>
    <p class="unlearn-proof"></p>
    <div class="unlearn-everyone">
      <div class="unlearn-row">
        <button type="button" class="unlearn-button" data-act="everyone">${IN_TURN.everyone}</button>
        <button type="button" class="unlearn-button" data-act="folds" title="Cross-validation: each fold is unlearned as a whole">${IN_TURN.folds}</button>
        <progress max="1" value="0" hidden aria-label="Points left out"></progress>
      </div>
      <p class="unlearn-result" role="status"></p>
      <div class="unlearn-turns"></div>
    </div>
  </div>
  <div class="player-bar" role="group" aria-label="Player">
    ${transportButtons("One event back", "To the next event")}
    <button type="button" class="unlearn-button" data-act="relearn" >Relearn</button>
    <input class="player-scrub" type="range" min="0" max="1" step="any" value="0" aria-label="Position in the walk">
    <output class="player-count"></output>
    ${transportSpeed("Speed")}
  </div>`;

/** The page: Board, events, proof, everyone in turn, transport. */
class Unlearn {
  /**
   * @param {HTMLElement} host
   * @param {{onEdit?: (points: number[][]) => void, onAsk?: (ask: {kind: string, row: number, has: string, point?: number[], afresh?: boolean}) => void}} options
   *   `onEdit` after points were undone or redone
   */
  constructor(host, { onEdit = () => {}, onAsk = () => {} } = {}) {
    Object.assign(this, { host, onEdit, onAsk });
    this.course = null;
    this.id = null;
    this.position = 0;
    this.direction = 0; // 1 plays, -1 plays backwards
    this.heading = 1; // which way the position went last
    this.explained = ""; // what the Board's message means
    this.running = ""; // "everyone" or "folds" while they are being left out, part by part
    this.waiting = []; // points to be learned when Python has answered
    this.learning = false; // one is on its way
    this.left = 1; // what part of the chosen point's multiplier is there
    this.isPart = false; // whether some of it is not
    this.movedAt = null; // when the first picture of this walk was painted that is not that of its start
    host.innerHTML = `<div class="player-root"><div class="player unlearn" data-position="0" data-last="0" data-playing="false">${UNLEARN_MARKUP}</div></div>`;
    this.root = host.querySelector(".unlearn");
    this.board = new Board(this.find(".unlearn-board"), {
      onEdit: (points) => this.#edited(points),
      onPick: (row) => this.pick(row),
      onPlace: (point) => this.learn(point),
    });
    this.board.setOverlay((ctx, toPixel, board) => this.#paint(ctx, toPixel, board));
    this.scrub = this.find(".player-scrub");
    this.transport = this.#transport();
    this.turns = new Turns(this.find(".unlearn-turns"), () => this.#showTurns());
    this.#listen();
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  get points() {
    return this.board.points;
  }

  get ids() {
    return this.board.ids;
  }

  setScene(scene) {
    this.#forget();
    this.board.setScene(scene);
  }

  /** Points were undone or redone: the machine of those before stays to be seen until Python has the new one. */
  #edited(points) {
    this.#forget();
    this.onEdit(points);
  }

  /** Forget the walk, and what was asked for: they are about other points. */
  #forget() {
    this.pause();
    [this.shown, this.course, this.id, this.sets] = [null, null, null, null];
    [this.running, this.waiting] = ["", []];
  }

  // ---- what comes from Python -------------------------------------------------------------------------------

  /**
   * @param {{meta: object, steps: ?object, fresh: boolean, settled: boolean, current: boolean}} data fresh: take over the
   *   points; settled: Python has answered all that was asked; current: and knows the points that are here
   */
  update({ meta, steps, fresh, settled, current }) {
    if (!current) return;
    this.host.style.height = "auto";
    const { height = 620 } = meta;
    this.root.style.setProperty("--player-height", typeof height === "string" ? height : `${height}px`);
    const { task, view, axes, classes } = meta;
    const points = fresh ? meta.points : undefined; // none either where they are still the same
    this.board.setScene({ task, points, view, axes, classNames: classes, editable: false, limit: meta.limit });
    this.adds = meta.adds ?? false;
    this.board.setMessage(meta.message);
    this.explained = meta.explained ?? "";
    this.style = chartStyle(theme(this.root));
    this.root.style.setProperty("--pair", this.style.accent);
    this.shown = this.#whole(meta.unlearn ?? null);
    this.#take(this.shown, steps);
    this.#goOn(settled);
    this.#showEveryone();
    this.find(".unlearn-proof").textContent = this.shown?.proof ?? "";
    this.render();
    this.board.redraw();
  }

  /** What Python has left out because it is here already; where it is not, it has to be asked for. */
  #whole(shown) {
    if (!shown || shown.model) return shown;
    if (shown.id === this.id) return { ...this.course.shown, ...shown };
    this.ask("whole");
    return null;
  }

  /** A walk that is new begins to play; one that a page switch cut off stands where it stood. */
  #take(shown, steps) {
    if ((shown?.id ?? null) === this.id) return;
    this.pause();
    this.id = shown?.id ?? null;
    this.course = shown ? new Course(shown, readColumns(steps).coef) : null;
    this.position = 0;
    this.heading = 1;
    this.movedAt = null;
    this.#fillList();
    this.#nameButtons();
    this.#showLegend();
    const left = window.svmvizWalk;
    delete window.svmvizWalk;
    if (left?.id === this.id) this.seek(left.position, left.heading);
    else if (this.course?.last) this.play(1);
  }

  /** Ask for what is still missing: the next samples of everyone, or the proof. */
  #goOn(settled) {
    if (settled) this.learning = false;
    if (settled && this.waiting.length) return this.#teach();
    if (!settled || !this.shown) {
      if (!this.shown) this.running = "";
      return undefined;
    }
    const { everyone, walk, proof } = this.shown;
    if (everyone?.over ?? true) this.running = "";
    if (this.running) return this.ask(this.running);
    return walk && proof === null ? this.ask("proof") : undefined;
  }

  // ---- what the person does ---------------------------------------------------------------------------------

  ask(kind, row = this.chosen, more = {}) {
    this.onAsk({ kind, row, has: this.id ?? "", ...more });
  }

  /** The point that is unlearned, -1 for none. */
  get chosen() {
    const { walk, rows } = this.course?.shown ?? {};
    return walk ? rows[walk.sample] : -1;
  }

  pick(row) {
    this.#refuse("");
    if (!this.shown) return;
    this.running = "";
    if (row === this.chosen && this.course.last && !this.course.learns) this.play(1, true);
    else this.ask("point", row);
  }

  /** A new point [x, y, label]: it joins the others and is learned. */
  learn(point) {
    if (!this.adds) return this.board.setMessage("There is no room for one more point: remove some on the page Draw and fit.");
    this.running = "";
    this.waiting.push(point);
    return this.learning ? undefined : this.#teach();
  }

  /** The next of the points that were drawn: one after the other, each with the points that Python has by then. */
  #teach() {
    this.learning = true;
    this.ask("learn", -1, { point: this.waiting.shift() });
  }

  #listen() {
    this.root.addEventListener("click", (event) => this.#clicked(event));
    const number = this.find(".unlearn-pick input");
    number.addEventListener("change", () => this.#pickNumber(number));
    const list = this.find(".unlearn-list");
    list.addEventListener("scroll", () => this.#fadeList());
    this.observer = new ResizeObserver(() => this.#bringIntoView(list.querySelector("[aria-selected=true]")));
    this.observer.observe(list);
  }

  #pickNumber(number) {
    const { value, validity } = number;
    const row = Number(value) - 1;
    const isPoint = Number.isInteger(row) && row >= 0 && row < this.board.count;
    const takesPart = !this.shown || this.shown.rows.includes(row);
    if (value !== "" && isPoint && takesPart) this.pick(row);
    else if (value !== "" || validity.badInput) {
      this.#refuse(isPoint ? `Point ${value} takes no part.` : `A whole number from 1 to ${this.board.count}.`);
    }
    number.value = "";
  }

  /** Why the number of a point is not taken; "" where it is. */
  #refuse(text) {
    setText(this.find(".unlearn-pick span"), text);
  }

  #clicked(event) {
    const target = event.target.closest("[data-at], [data-row]");
    if (!target) return;
    const { at, row } = target.dataset;
    if (at !== undefined) this.jump(Number(at), this.heading); // as the list tells it
    else this.pick(Number(row));
    if (event.detail > 0 && target.matches("button")) target.blur();
  }

  #transport() {
    const toggle = (kind) => () => this.#toggle(kind);
    return new Transport(this.root, {
      slider: this.scrub,
      speeds: UNLEARN_SPEEDS,
      isOn: () => Boolean(this.course?.last),
      acts: {
        first: () => this.jump(0),
        back: () => this.jump(Math.ceil(this.position - 1e-9) - 1),
        play: () => (this.direction ? this.pause() : this.play(1)),
        next: () => this.jump(Math.floor(this.position + 1e-9) + 1),
        last: () => this.jump(this.course?.last ?? 0),
        relearn: () => this.play(-1),
        everyone: toggle("everyone"),
        folds: toggle("folds"),
      },
      onScrub: (position) => {
        this.pause();
        this.seek(position);
      },
    });
  }

  /** Leave out "everyone" or the "folds", part by part, or stop. */
  #toggle(kind) {
    this.running = this.running ? "" : kind;
    if (this.running && this.course?.last) this.jump(this.course.learns ? this.course.last : 0, 1); // all points are there
    const { everyone } = this.shown ?? {};
    if (this.running) this.ask(kind, this.chosen, { afresh: everyone?.kind === kind && everyone.over });
    this.#showEveryone();
  }

  // ---- going from position to position ----------------------------------------------------------------------

  seek(position, heading = Math.sign(position - this.position)) {
    const next = Math.min(Math.max(0, position), this.course?.last ?? 0);
    if (heading && next !== this.position) this.#head(heading);
    this.position = next;
    this.render();
  }

  /** The words of the events are those of the direction in which they are met. */
  #head(heading) {
    if (heading === this.heading) return;
    this.heading = heading;
    const rows = this.find(".unlearn-list").children;
    this.course.events.forEach((_, k) => { rows[k].lastChild.textContent = this.course.words(k, heading); });
  }

  jump(position, heading) {
    this.pause();
    this.seek(position, heading);
  }

  /** Play forward (1) or backwards (-1); from the other end where there is nothing left in this direction. */
  play(direction, again = false) {
    const last = this.course?.last ?? 0;
    if (!last) return;
    this.pause();
    const end = direction > 0 ? last : 0;
    if (again || this.position === end) this.position = last - end;
    this.direction = direction;
    this.#head(direction);
    this.transport.run((elapsed) => this.#tick(elapsed || FIRST_FRAME));
    this.render();
  }

  pause() {
    this.direction = 0;
    this.transport.stop();
    this.#showTransport();
  }

  #tick(elapsed) {
    const { last } = this.course;
    const pace = this.transport.speed * Math.max(UNLEARN_PACE, last / UNLEARN_SECONDS);
    const position = this.position + (this.direction * pace * elapsed) / 1000;
    if (position <= 0 || position >= last) {
      this.direction = 0;
      this.transport.stop();
    }
    this.seek(position);
  }

  // ---- drawing ----------------------------------------------------------------------------------------------

  render() {
    const { course, board, position } = this;
    if (!course) {
      board.setModel(null);
      board.setOpacities(null);
      board.setHollow(null);
      this.sets = null;
      this.#showWords();
      this.#showTransport();
      return;
    }
    const { rows, walk } = course.shown;
    board.setModel(course.model(position));
    this.sets = course.sets(position, this.heading);
    this.left = walk ? course.share(position) : 1;
    const isPart = course.last > 0 && this.left < 1 - 1e-9;
    if (isPart !== this.isPart) {
      this.isPart = isPart;
      this.#showLegend();
      this.#showHalos();
    }
    const opacities = new Array(board.count).fill(0.45); // points of other classes take no part
    rows.forEach((row, i) => { opacities[row] = this.sets[i] === SAMPLE_SETS.REST ? 0.75 : 1; });
    if (walk) opacities[rows[walk.sample]] = FAINTEST + (1 - FAINTEST) * this.left;
    board.setOpacities(opacities);
    const gone = (_, row) => Boolean(walk) && this.left === 0 && row === rows[walk.sample];
    board.setHollow(opacities.map(gone), course.learns ? "not learned yet" : "has left");
    this.#showWords();
    this.#showTransport();
  }

  /** Rings of the sets, the point that leaves, the points of the events of this moment, and those that flip. */
  #paint(ctx, toPixel, board) {
    const { course, sets, style } = this;
    if (!course || !sets) return;
    if (this.position > 0) this.movedAt ??= performance.now();
    const { rows, walk, names } = course.shown;
    const radius = board.radius + 5;
    const place = (i) => toPixel(board.items[rows[i]].x, board.items[rows[i]].y);
    const under = withAlpha(board.look.background, 0.75);
    sets.forEach((set, i) => {
      if (set === SAMPLE_SETS.MARGIN) drawRing(ctx, POINT_STATUS.FREE, ...place(i), radius, board.look.text, under, 2);
      if (set === SAMPLE_SETS.BOUND) drawRing(ctx, POINT_STATUS.BOUND, ...place(i), radius, board.look.text, under, 2);
    });
    for (const [i] of this.flips) paintFlip(ctx, board.look, place(i), radius);
    this.ranked.slice(0, NAMED).forEach(([i], k) => {
      if (i !== walk?.sample) paintUnlearnName(ctx, board, `${k + 1}: ${names[i]}`, place(i), radius);
    });
    for (const { at, sample } of course.events) {
      const since = this.heading * (this.position - at);
      if (sample < 0 || since < -1e-9 || since > FLASH) continue;
      paintCalled(ctx, board, place(sample), radius + 6, style.accent, names[sample], 1 - since / FLASH);
    }
    if (walk) paintLeaving(ctx, board, place(walk.sample), radius + 4, style.accent, names[walk.sample], course.last ? this.left : 0);
  }

  /** Those that change sides: of the machine with all points, and only as long as that is the one to be seen. */
  get flips() {
    return this.isPart || this.turns.isRanking ? [] : this.shown?.everyone?.flips ?? [];
  }

  /** Those that matter, likewise. */
  get ranked() {
    return this.isPart || !this.turns.isRanking ? [] : this.shown?.everyone?.ranked ?? [];
  }

  #showLegend() {
    if (!this.course) return this.board.setLegendItems([]);
    const [margin, bound] = this.course.shown.terms;
    const items = [["free", margin], ["bound", bound], ["leaving", this.course.learns ? "new: how much of its multiplier is there" : "leaving: what is left of its multiplier"]];
    if (this.flips.length) items.push(["flips", "changes sides when left out"]);
    if (this.ranked.length) items.push(["halo", "matters: its own value changes when left out"]);
    return this.board.setLegendItems(items);
  }

  #showWords() {
    const { course, sets } = this;
    const words = this.find(".unlearn-why");
    const rows = this.find(".unlearn-list").children;
    const latest = course ? course.latest(this.position, this.heading) : -1;
    const text = !course ? this.explained : course.walk?.note ?? (course.walk ? course.words(latest, this.heading) : course.shown.refused ?? UNLEARN_START[Number(isTouched())]);
    if (words.textContent !== text) words.textContent = text;
    words.setAttribute("aria-live", this.direction ? "off" : "polite");
    const total = (set) => sets?.filter((other) => other === set).length ?? 0;
    const terms = course?.shown.terms ?? [];
    const parts = [SAMPLE_SETS.MARGIN, SAMPLE_SETS.BOUND, SAMPLE_SETS.REST].map((set, k) => `${total(set)} ${terms[k]?.split(":")[0]}`);
    const apart = this.board.count - (sets?.length ?? 0);
    if (apart) parts.push(`${apart} of other classes take no part`);
    this.find(".unlearn-sets").textContent = course ? parts.join(", ") : "";
    this.find(".unlearn-share").textContent = course?.last ? `multiplier ${course.learns ? "learned" : "left"}: ${(100 * this.left).toFixed(1)} %` : "";
    for (let k = 0; k < rows.length; k += 1) {
      const current = String(k === latest);
      if (rows[k].getAttribute("aria-selected") === current) continue;
      rows[k].setAttribute("aria-selected", current);
      if (current === "true") this.#bringIntoView(rows[k]);
    }
  }

  #bringIntoView(row) {
    this.#fadeList();
    if (!row) return;
    const list = this.find(".unlearn-list");
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
  }

  #fillList() {
    this.find(".unlearn-list").replaceChildren(...(this.course?.events ?? []).map(({ at, text }, k) => {
      const row = element("div", "unlearn-event");
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", "false");
      row.dataset.at = at;
      row.append(element("b", "", String(k + 1)), element("span", "", text));
      return row;
    }));
  }

  /** Backwards the one is the other. */
  #nameButtons() {
    const button = this.find("[data-act=relearn]");
    const learns = this.course?.learns ?? false;
    button.textContent = learns ? "Unlearn" : "Relearn";
    button.title = learns ? "Play backwards: the new point is unlearned" : "Play backwards: the point is learned again";
  }

  #showTransport() {
    const { course, position, direction, transport } = this;
    const last = course?.last ?? 0;
    const total = course?.events.length ?? 0;
    const text = last ? `${course.happened(position)} of ${total} events` : course?.walk ? "no events" : "no point chosen";
    transport.show({ value: position, most: last, text, isPlaying: direction !== 0 });
    transport.slider.disabled = !last;
    this.find("[data-act=relearn]").disabled = !last;
    Object.assign(this.root.dataset, { position: position.toFixed(3), last, playing: direction !== 0, chosen: this.chosen, walk: this.id ?? "" });
    this.host.dataset.ready = "true";
  }

  #showEveryone() {
    const everyone = this.shown?.everyone ?? null;
    const begun = everyone && !everyone.over && everyone.done > 0;
    for (const [kind, name] of Object.entries(IN_TURN)) {
      const button = this.find(`[data-act=${kind}]`);
      button.disabled = !this.shown || Boolean(this.running && this.running !== kind);
      const idle = begun && everyone.kind === kind ? "Go on" : name;
      setText(button, this.running === kind ? "Stop" : idle);
    }
    const bar = this.find("progress");
    bar.hidden = !this.running && !begun;
    bar.value = everyone ? everyone.done / everyone.total : 0;
    this.find(".unlearn-result").textContent = everyone?.words ?? "";
    this.root.dataset.done = everyone?.done ?? 0;
    this.turns.show(everyone, this.shown);
    this.#showTurns();
  }

  /** On the Board: those that change sides, or how much each matters. */
  #showTurns() {
    this.#showLegend();
    this.#showHalos();
    this.board.redraw();
  }

  #showHalos() {
    const sizes = new Array(this.board.count).fill(0);
    for (const [i, share] of this.ranked) sizes[this.shown.rows[i]] = share;
    this.board.setSizes(sizes);
  }

  /** The last row fades where the list goes on. */
  #fadeList() {
    const list = this.find(".unlearn-list");
    list.classList.toggle("unlearn-goes-on", list.scrollTop + list.clientHeight < list.scrollHeight - 2);
  }

  setMessage(text) {
    this.board.setMessage(text);
  }

  setModel(model) {
    this.course = null;
    this.board.setModel(model);
  }

  destroy() {
    this.pause();
    if (this.id) window.svmvizWalk = { id: this.id, position: this.position, heading: this.heading };
    this.observer.disconnect();
    this.turns.destroy();
    this.transport.destroy();
    this.board.destroy();
  }
}
