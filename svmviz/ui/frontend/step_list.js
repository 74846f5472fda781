// The list of steps to jump to.

const PLAYER_ROW_HEIGHT = 42;

/** The list of steps: only the rows in view exist, so thousands of steps cost no more than twenty. */
class StepList {
  constructor(host, onPick) {
    this.host = host;
    this.rows = host.querySelector(".player-rows");
    this.onPick = onPick;
    this.replay = null;
    this.position = 0;
    host.addEventListener("scroll", () => this.fill(), { passive: true });
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.onPick(Number(row.dataset.row));
    });
    this.observer = new ResizeObserver(() => this.show(this.position));
    this.observer.observe(host);
  }

  setReplay(replay) {
    this.replay = replay;
    this.rows.replaceChildren();
    this.rows.style.height = `${replay ? (replay.length + 1) * PLAYER_ROW_HEIGHT : 0}px`;
  }

  /** Marks a position and brings it into view; while playing it stays in the middle. */
  show(position, playing = false) {
    this.position = position;
    const room = this.host.clientHeight;
    if (!this.replay || !room) return;
    const top = position * PLAYER_ROW_HEIGHT;
    const [from, to] = [this.host.scrollTop, this.host.scrollTop + room - PLAYER_ROW_HEIGHT];
    if (playing || top < from || top > to) this.host.scrollTop = Math.max(0, top - room / 2 + PLAYER_ROW_HEIGHT / 2);
    this.fill();
    this.host.setAttribute("aria-activedescendant", `player-step-${position}`);
  }

  fill() {
    const room = this.host.clientHeight;
    if (!this.replay || !room) return;
    const first = Math.max(0, Math.floor(this.host.scrollTop / PLAYER_ROW_HEIGHT) - 1);
    const count = Math.min(Math.ceil(room / PLAYER_ROW_HEIGHT) + 3, this.replay.length + 1 - first);
    while (this.rows.children.length < count) this.rows.append(stepRow());
    while (this.rows.children.length > count) this.rows.lastChild.remove();
    for (let k = 0; k < count; k += 1) this.fillRow(this.rows.children[k], first + k);
  }

  fillRow(row, position) {
    const current = String(position === this.position);
    if (row.getAttribute("aria-selected") !== current) row.setAttribute("aria-selected", current);
    if (row.dataset.row === String(position)) return;
    row.dataset.row = position;
    row.id = `player-step-${position}`;
    row.setAttribute("aria-posinset", String(position + 1));
    row.setAttribute("aria-setsize", String(this.replay.length + 1));
    row.style.top = `${position * PLAYER_ROW_HEIGHT}px`;
    const [number, pair, result] = row.children;
    const { replay } = this;
    if (position === replay.length) {
      row.classList.remove("player-newton");
      number.textContent = "end";
      pair.textContent = replay.trace.status ?? "";
      result.textContent = replay.walk ? replay.placeText(replay.values[position]) : `gap ${replay.gapText(position, 2)}`;
      return;
    }
    number.textContent = position + 1;
    if (replay.walk) {
      this.fillEvent(row, position);
      return;
    }
    const jump = replay.jumps.get(position);
    row.classList.toggle("player-newton", jump !== undefined);
    if (jump) {
      pair.textContent = `Newton: ${jump.indices.length} free`;
      result.textContent = jumpEnd(replay, jump);
      return;
    }
    const step = replay.stepAt(position);
    pair.textContent = `↑${replay.name(step.i)} ↓${replay.name(step.j)}`;
    result.textContent = `t ${readableNumber(step.step, 2)}, ${shortStop(replay, step)}`;
  }

  /** An event of a walk: who, what, and where. */
  fillEvent(row, position) {
    const { replay } = this;
    const [, who, where] = row.children;
    row.classList.remove("player-newton");
    const d = replay.columns.dual_index[position];
    who.textContent = d < 0 ? replay.eventText(position) : `${replay.name(d)} ${replay.eventText(position)}`;
    where.textContent = replay.placeText(replay.values[position + 1], 3);
  }

  destroy() {
    this.observer.disconnect();
  }
}

function stepRow() {
  const row = document.createElement("div");
  row.className = "player-row";
  row.setAttribute("role", "option");
  row.append(...["b", "span", "small"].map((tag) => document.createElement(tag)));
  return row;
}

/** What stopped a step, as short as it goes. */
function shortStop(replay, step) {
  if (step.blocked === BLOCKED_BY_I) return `↑ at ${replay.boundName(step.z_i_after)}`;
  if (step.blocked === BLOCKED_BY_J) return `↓ at ${replay.boundName(step.z_j_after)}`;
  return step.blocked ? "both at bounds" : "minimum";
}
