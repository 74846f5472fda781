// The slim bar above the Board and the legend below it.

const BOARD_TOOLS = [
  { id: "draw", name: "Draw", hint: "Click to add a point, drag a point to move it, right-click to remove it.",
    touchHint: "Tap to add a point, drag a point to move it, Erase removes." },
  { id: "spray", name: "Spray", hint: "Hold the button down to spray points round the pointer.",
    touchHint: "Hold a finger down to spray points." },
  { id: "erase", name: "Erase", hint: "Drag over points to remove them." },
  { id: "pan", name: "Pan", hint: "Drag to move the picture, wheel or two fingers to zoom." },
];

/** The tools of a Board that is not drawn on, but that hears of clicks. */
const PICK_TOOLS = [
  { id: "pick", name: "Unlearn", hint: "Click a point: it is unlearned.", touchHint: "Tap a point: it is unlearned." },
  { id: "place", name: "Learn", hint: "Click where a new point shall be: it is learned.",
    touchHint: "Tap where a new point shall be: it is learned." },
];

const BOARD_ACTIONS = [
  { id: "undo", name: "Undo", title: "Undo (Ctrl+Z)" },
  { id: "redo", name: "Redo", title: "Redo (Ctrl+Y)" },
  { id: "clear", name: "Clear", title: "Remove all points (can be undone)" },
  { id: "fit", name: "Fit view", title: "Back to the view that shows everything" },
];

const SURE_CHIPS = 4; // classes that always have a chip

/** Icons as strokes in a 20 x 20 box. */
const BOARD_ICONS = {
  pick: "M5 3l10 7-4.5 1 2.5 5-2 1-2.5-5L5 15z",
  place: "M10 4v12M4 10h12",
  draw: "M4 16l1-4 8.5-8.5 3 3L8 15zM11.5 5.5l3 3",
  spray: "M8 9h6v8H8zM9.5 9V6h3v3M5 3.5h.01M3 6h.01M5 8.5h.01M7 5.7h.01",
  erase: "M8.5 16.5l-5-5 8-8 5 5-8 8zM6.5 8.5l5 5M8.5 16.5H17",
  pan: "M10 2.5v15M2.5 10h15M7.5 5L10 2.5 12.5 5M7.5 15l2.5 2.5 2.5-2.5M5 7.5L2.5 10 5 12.5M15 7.5l2.5 2.5-2.5 2.5",
  undo: "M7 4L3 8l4 4M3.5 8H12a4.5 4.5 0 0 1 0 9H8",
  redo: "M13 4l4 4-4 4M16.5 8H8a4.5 4.5 0 0 0 0 9h4",
  clear: "M4 5.5h12M8 5.5V3.5h4v2M5.5 5.5l.8 11h7.4l.8-11M8.5 8.5v5M11.5 8.5v5",
  fit: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4M7.5 10a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0",
};

function boardIcon(id) {
  return `<svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${BOARD_ICONS[id]}"/></svg>`;
}

/** A small picture for the legend, drawn with `body` in a 26 x 18 box. */
function legendPicture(body) {
  return `<svg width="26" height="18" viewBox="0 0 26 18" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">${body}</svg>`;
}

const LEGEND_PICTURES = {
  line: legendPicture('<path d="M1 9h24" stroke-width="3"/>'),
  dashes: legendPicture('<path d="M1 9h24" stroke-dasharray="6 3"/>'),
  hatch: legendPicture('<path d="M2 16L16 2M9 16L23 2M2 9L9 2M16 16L24 8" stroke-width="1.6"/>'),
  hull: legendPicture('<path d="M4 14L6 4l9-2 8 6-5 8z" fill="currentColor" fill-opacity="0.2"/>'),
  link: legendPicture('<path d="M4 9h18"/><circle cx="4" cy="9" r="3" fill="currentColor"/><circle cx="22" cy="9" r="3" fill="currentColor"/>'),
  best: legendPicture('<path d="M5 10l5 5L21 3" stroke-width="3"/>'),
  way: legendPicture('<circle cx="5" cy="9" r="3.5"/><path d="M9 9h16" stroke-width="2.5"/>'),
  leaving: legendPicture('<path d="M13 1.5a7.5 7.5 0 1 1-7.5 7.5" stroke-width="3"/>'),
  flips: legendPicture('<path d="M5 3l16 12M21 3L5 15" stroke-width="3"/>'),
  halo: legendPicture('<circle cx="13" cy="9" r="8.5" fill="currentColor" fill-opacity="0.3" stroke="none"/><circle cx="13" cy="9" r="3" fill="currentColor" stroke="none"/>'),
  hollow: legendPicture('<circle cx="13" cy="9" r="5"/>'),
  free: legendPicture('<circle cx="13" cy="9" r="7.5"/><circle cx="13" cy="9" r="2.5" fill="currentColor" stroke="none"/>'),
  bound: legendPicture('<circle cx="13" cy="9" r="7.5" stroke-dasharray="3.4 2.5"/><circle cx="13" cy="9" r="2.5" fill="currentColor" stroke="none"/>'),
};

/** An element with a class and text. */
function element(tag, className, text = "") {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

/** A button that shows an icon and, where there is room, its name. */
function iconButton({ id, name, title }, onClick) {
  const button = element("button", "board-button");
  button.type = "button";
  button.dataset.action = id;
  button.title = title;
  button.setAttribute("aria-label", name);
  button.innerHTML = `${boardIcon(id)}<span>${name}</span>`;
  button.addEventListener("click", onClick);
  return button;
}

/** Class chips, tools and actions. */
class Toolbar {
  constructor(board) {
    this.board = board;
    this.root = element("div", "board-bar");
    this.chips = element("div", "board-group board-chips");
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Class of the next point");
    this.tools = element("div", "board-group");
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", "Tool");
    this.actions = element("div", "board-group");
    this.buttons = new Map();
    this.known = board.onPlace ? PICK_TOOLS : BOARD_TOOLS;
    for (const tool of this.known) {
      this.#add(this.tools, { ...tool, title: `${tool.name}: ${tool.hint}` }, () => board.setTool(tool.id));
    }
    for (const action of BOARD_ACTIONS) this.#add(this.actions, action, () => board[action.id]());
    const buttons = element("div", "board-group board-buttons"); // stay together when the bar wraps
    buttons.append(this.tools, this.actions);
    this.root.append(this.chips, buttons);
    this.shown = null;
    this.shownChips = null;
  }

  #add(group, description, onClick) {
    const button = iconButton(description, onClick);
    this.buttons.set(description.id, button);
    group.append(button);
  }

  /** Bring chips and buttons in line with the Board; does nothing while all is as it was. */
  update() {
    const { board } = this;
    const { editable, task } = board.scene;
    const state = JSON.stringify([editable, task, board.tool, board.canUndo, board.canRedo, board.count === 0]);
    if (state !== this.shown) this.#updateButtons();
    this.shown = state;
    this.#updateChips();
  }

  #updateButtons() {
    const { board } = this;
    const { editable, task } = board.scene;
    this.tools.hidden = !board.draws;
    for (const id of ["undo", "redo"]) this.buttons.get(id).hidden = !board.draws;
    this.buttons.get("clear").hidden = !editable;
    for (const { id } of this.known) this.buttons.get(id).setAttribute("aria-pressed", String(board.tool === id));
    this.buttons.get("undo").disabled = !board.canUndo;
    this.buttons.get("redo").disabled = !board.canRedo;
    this.buttons.get("clear").disabled = board.count === 0;
    this.chips.hidden = task === "regression";
  }

  #updateChips() {
    const { board } = this;
    const { classNames } = board.scene;
    const { draws } = board;
    const used = board.usedLabels();
    const labels = draws ? CLASS_STYLES.map((_, k) => k) : used;
    // Long names need the room of the last classes, as long as these have no points.
    const long = classNames.some((name) => name.length > 2);
    const spare = long ? labels.filter((label) => label >= SURE_CHIPS && !used.includes(label)) : [];
    const state = JSON.stringify([labels, spare, board.activeClass, classNames, draws, board.look.dark]);
    if (state === this.shownChips) return;
    this.shownChips = state;
    const focused = this.chips.contains(this.root.getRootNode().activeElement);
    this.chips.replaceChildren(...labels.map((label) => this.#chip(label, spare.includes(label))));
    if (focused) this.chips.querySelector('[aria-pressed="true"]')?.focus();
  }

  #chip(label, isSpare) {
    const { board } = this;
    const name = board.className(label);
    const chip = element(board.draws ? "button" : "span", "board-chip");
    chip.classList.toggle("board-chip-spare", isSpare);
    chip.innerHTML = markSvg(label, board.look.dark, 20);
    if (label < board.scene.classNames.length) chip.append(element("span", "board-chip-name", name));
    if (!board.draws) return chip;
    chip.type = "button";
    chip.dataset.label = label;
    chip.append(element("kbd", "board-key", String(label + 1)));
    chip.title = `Draw points of class ${name} (key ${label + 1})`;
    chip.setAttribute("aria-label", `Class ${name}`);
    chip.setAttribute("aria-pressed", String(label === board.activeClass));
    chip.addEventListener("click", () => board.setClass(label));
    return chip;
  }
}

/** Whether a finger points here, and not a mouse. */
function isTouched() {
  return matchMedia("(pointer: coarse)").matches;
}

/** One line on how a tool is used, in the words for mouse or finger. */
function toolHint(id) {
  const tool = [...BOARD_TOOLS, ...PICK_TOOLS].find((other) => other.id === id);
  return isTouched() ? tool.touchHint ?? tool.hint : tool.hint;
}

/** What the lines and rings mean, and one line on how to draw. */
class Legend {
  constructor() {
    this.root = element("div", "board-foot");
    this.items = element("div", "board-legend");
    this.hint = element("div", "board-hint");
    this.root.append(this.items, this.hint);
    this.shown = null;
  }

  update(board) {
    const { scene, model } = board;
    const items = [];
    if (model && scene.task === "regression") {
      items.push(["line", "prediction"]);
      if (model.epsilon > 0) items.push(["dashes", "tube, ± ε"]);
    } else if (model && board.legendOfModel) {
      items.push(["line", model.lines?.[0] ?? (model.decision === "inside" ? "edge of the region" : "boundary")]);
      if (model.rival) items.push(["dashes", model.lines?.[1] ?? "the other rule"]);
      if (levelsOf(model).length) items.push(["dashes", "margin"]);
      if (model.hatch) items.push(["hatch", "ambiguous"]);
    }
    items.push(...board.legendItems);
    if (board.items.some((item) => item.hollow)) items.push(["hollow", board.hollowMeans]);
    const statuses = board.statuses();
    const free = statuses.has(POINT_STATUS.FREE);
    const bound = statuses.has(POINT_STATUS.BOUND);
    if (free || bound) items.push([null, "support vectors:"]);
    if (free) items.push(["free", "free"]);
    if (bound) items.push(["bound", "at the bound"]);
    const hint = board.draws ? toolHint(board.tool) : "";
    const state = JSON.stringify([items, hint, board.look.dark]);
    if (state === this.shown) return;
    this.shown = state;
    this.hint.textContent = hint;
    this.items.replaceChildren(...items.map(([picture, text]) => {
      const item = element("span", "board-legend-item");
      if (picture) item.innerHTML = LEGEND_PICTURES[picture];
      if (text === "prediction") item.firstChild.style.color = classColour(1, board.look.dark);
      item.append(text);
      return item;
    }));
  }
}
