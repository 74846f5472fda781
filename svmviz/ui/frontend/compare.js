// Several machines side by side: a Board each, all of one sheet of points.

const BETA_HELP = "Weight of the regulariser in the MC-SVM: 1 / C, so that an error costs as much as in the other machines.";
const NUMBER_HELP = {
  Variables: "Multipliers of the dual problem, of all its parts together.",
  "Pairs moved": "Steps of SMO: each moves two multipliers.",
  "Kernel values read": "Entries of the kernel matrix that the steps read: what training costs, whatever the computer.",
};

/** One machine: its title, its Board and its numbers. */
class ComparePanel {
  constructor(options) {
    this.root = element("section", "compare-panel");
    const head = element("header", "compare-head");
    this.title = element("h3", "");
    this.note = element("span", "compare-note");
    head.append(this.title, this.note);
    const host = element("div", "compare-board");
    this.numbers = element("dl", "compare-numbers");
    this.root.append(head, host, this.numbers);
    this.host = host;
    this.options = options;
    this.modelText = null;
    this.numbersText = null;
  }

  /** Once the panel is in the page and has a size. */
  mount() {
    this.board = new Board(this.host, { ...this.options, compact: true });
    this.board.setOverlay(() => this.#showShare());
  }

  /** @param {{title: string, note: string, model: ?object, message: ?string, numbers: object[]}} data see ui/compare.py */
  update(data) {
    this.title.textContent = data.title;
    this.board.name = `${data.title}: drawing board`;
    this.note.textContent = data.note;
    this.note.title = data.note.startsWith("β") ? BETA_HELP : "";
    const text = JSON.stringify(data.model);
    // An unchanged model keeps its picture.
    if (text !== this.modelText) this.board.setModel(data.model?.regions === false ? null : data.model);
    this.modelText = text;
    this.board.setMessage(data.message);
    this.#showNumbers(data.numbers);
  }

  #showNumbers(numbers) {
    const text = JSON.stringify(numbers);
    if (text === this.numbersText) return;
    this.numbersText = text;
    this.share = null;
    this.numbers.replaceChildren(...numbers.map(({ name, value, best, hatched }) => {
      const row = element("div", "compare-number");
      row.classList.toggle("compare-best", Boolean(best));
      const shown = element("dd", "", best ? `✓ ${value}` : value);
      if (best) shown.title = "The fewest of the machines";
      if (hatched) this.share = shown;
      const term = element("dt", "", name);
      term.title = NUMBER_HELP[name] ?? "";
      row.append(term, shown);
      return row;
    }));
  }

  /** How much of the picture is hatched; known once it is drawn. */
  #showShare() {
    if (!this.share) return;
    const percent = 100 * this.board.regions.hatching.share;
    const text = `${percent > 0 && percent < 0.1 ? "< 0.1" : percent.toFixed(1)} % of the picture`;
    if (this.share.textContent !== text) this.share.textContent = text;
  }
}

/** The panels with one bar of tools and one legend. An edit, a tool or a zoom on any Board is one on all. */
class Compare {
  /** @param {HTMLElement} host @param {{onEdit?: (points: number[][]) => void}} options */
  constructor(host, { onEdit = () => {} } = {}) {
    Object.assign(this, { host, onEdit });
    this.busy = false; // while Boards are brought in line, their changes are not edits
    this.panels = [];
    this.root = element("div", "compare");
    this.bar = element("div", "compare-bar");
    this.grid = element("div", "compare-grid");
    this.foot = element("div", "compare-foot");
    this.words = element("p", "compare-words");
    this.root.append(this.bar, this.grid, this.foot);
    host.replaceChildren(this.root);
  }

  #build(count) {
    const options = { onEdit: this.onEdit, onChange: (board) => this.#spread(board) };
    this.busy = true;
    this.panels = Array.from({ length: count }, () => new ComparePanel(options));
    this.grid.append(...this.panels.map((panel) => panel.root));
    for (const panel of this.panels) panel.mount();
    const [lead, ...others] = this.boards;
    this.bar.append(lead.toolbar.root);
    this.foot.append(lead.legend.root, this.words);
    for (const { toolbar, legend } of others) {
      toolbar.root.remove();
      legend.root.remove();
    }
    // Keys act on the Board under the pointer; over the bar, which belongs to none, on the first.
    this.bar.addEventListener("pointerenter", () => { lead.over = true; });
    this.bar.addEventListener("pointerleave", () => { lead.over = false; });
    this.busy = false;
  }

  get boards() {
    return this.panels.map((panel) => panel.board);
  }

  get lead() {
    return this.panels[0]?.board;
  }

  get points() {
    return this.lead.points;
  }

  get ids() {
    return this.lead.ids;
  }

  /** Bring all other Boards in line with the one that has changed. */
  #spread(from) {
    if (this.busy || !from.legend) return;
    this.busy = true;
    for (const board of this.boards) if (board !== from) board.mirror(from);
    this.busy = false;
    this.#publish();
  }

  /**
   * @param {{meta: object, fresh: boolean, ids: ?number[]}} data fresh: take over the points; ids: the points that
   *   the models were fitted to, null for those that are there
   */
  update({ meta, fresh, ids }) {
    this.host.style.height = "auto"; // the style sheet knows: a given height, or all that a phone needs
    const { height } = meta;
    this.root.style.setProperty("--compare-height", typeof height === "string" ? height : `${height}px`);
    if (!this.panels.length) this.#build(meta.panels.length);
    const scene = { axes: meta.axes, classNames: meta.classes, editable: true, limit: meta.limit, task: meta.task };
    this.busy = true;
    for (const board of this.boards) board.setScene({ ...scene, view: fresh ? meta.view : undefined });
    this.busy = false;
    if (fresh) this.setScene({ points: meta.points });
    this.busy = true;
    this.panels.forEach((panel, k) => panel.update(meta.panels[k]));
    const anyBest = meta.panels.some(({ numbers }) => numbers.some(({ best }) => best));
    this.lead.setLegendItems(anyBest ? [["best", "fewest held-out errors"]] : []);
    for (const board of this.boards) {
      board.setHollow(meta.held, "held out: not trained on", fresh ? null : ids);
      board.redraw();
    }
    this.busy = false;
    this.words.textContent = meta.words;
    this.#publish();
  }

  /** Take over points: on the first Board, and from it on all. */
  setScene(scene) {
    this.lead.setScene(scene);
  }

  setMessage(text) {
    for (const board of this.boards) board.setMessage(text);
  }

  setModel(model) {
    for (const board of this.boards) board.setModel(model);
  }

  /** What tests read. */
  #publish() {
    const { dataset } = this.host;
    dataset.points = String(this.lead.count);
    dataset.zoomed = String(this.lead.zoom !== null);
    dataset.tool = this.lead.tool;
    dataset.ready = "true";
  }

  destroy() {
    for (const board of this.boards) board.destroy();
    this.root.remove();
  }
}
