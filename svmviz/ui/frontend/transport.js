// What every player has: buttons, a slider, keys, a speed, and the clock that it plays by.

const TRANSPORT_ICONS = {
  first: "M4 4h2.5v12H4zM16 4v12L7.5 10z",
  back: "M14 4v12L5 10z",
  play: "M5 3.5v13L17 10z",
  pause: "M5 4h3.5v12H5zM11.5 4H15v12h-3.5z",
  next: "M6 4v12l9-6z",
  last: "M13.5 4H16v12h-2.5zM4 4v12l8.5-6z",
};
const TRANSPORT_KEYS = {
  " ": "play", ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", ArrowUp: "faster", ArrowDown: "slower",
};
const LONGEST_FRAME = 250; // milliseconds that a frame counts for at most
const FASTER = 1.5;

function transportIcon(name) {
  return `<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="${TRANSPORT_ICONS[name]}" fill="currentColor"/></svg>`;
}

/** The buttons of a player, with what one back and one on are called. */
function transportButtons(back, next, acts = ["first", "back", "play", "next", "last"]) {
  const names = { first: ["To the start", "Home"], back: [back, "←"], play: ["Play", "space"], next: [next, "→"], last: ["To the end", "End"] };
  const markup = acts.map((act) => {
    const [name, key] = names[act];
    const title = act === "play" ? "Play or pause" : name;
    const big = act === "play" ? ' class="player-play"' : "";
    return `<button type="button" data-act="${act}"${big} title="${title} (${key})" aria-label="${name}">${transportIcon(act)}</button>`;
  });
  return `<div class="player-buttons">${markup.join("")}</div>`;
}

function transportSpeed(what) {
  return `<label class="player-speed" title="Speed (↑ ↓)">speed <input type="range" min="0" max="100" step="1" aria-label="${what}"><output></output></label>`;
}

class Transport {
  /**
   * @param {HTMLElement} root of the player: holds the buttons ([data-act]), perhaps .player-count and .player-speed
   * @param {object} options
   * @param {HTMLInputElement} options.slider
   * @param {Object<string, function()>} options.acts what the buttons and keys do: first, back, play, next, last, others
   * @param {function(number)} options.onScrub with the slider's value @param {function()} options.onScrubbed let go
   * @param {function(): boolean} options.isOn whether keys mean anything
   * @param {?{least: number, most: number, start: number, unit: string}} options.speeds
   */
  constructor(root, { slider, acts, onScrub, onScrubbed = () => {}, isOn = () => true, speeds = null }) {
    Object.assign(this, { root, slider, onScrub, onScrubbed, isOn, speeds });
    this.acts = { ...acts, faster: () => this.setSpeed(this.speed * FASTER), slower: () => this.setSpeed(this.speed / FASTER) };
    this.play = root.querySelector("[data-act=play]");
    this.count = root.querySelector(".player-count");
    this.speedInput = root.querySelector(".player-speed input");
    this.speed = speeds?.start ?? 1;
    this.isRunning = false;
    this.#listen();
    this.#showSpeed();
  }

  #listen() {
    const { root, slider, speedInput } = this;
    root.addEventListener("click", (event) => this.#clicked(event));
    slider.addEventListener("input", () => this.onScrub(Number(slider.value)));
    slider.addEventListener("change", () => this.onScrubbed());
    speedInput?.addEventListener("input", () => this.setSpeed(this.#speedAt(Number(speedInput.value))));
    // A slider that was moved with the mouse gives the arrow keys back to the player.
    for (const one of [slider, speedInput]) one?.addEventListener("pointerup", () => one.blur());
    root.addEventListener("pointerenter", () => { this.under = true; });
    root.addEventListener("pointerleave", () => { this.under = false; });
    this.onKey = (event) => this.#key(event);
    document.addEventListener("keydown", this.onKey);
  }

  #clicked(event) {
    const button = event.target.closest("button[data-act]");
    if (!button || !this.acts[button.dataset.act]) return;
    this.acts[button.dataset.act]();
    if (event.detail > 0) button.blur();
  }

  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.isOn() || !this.#hearsKeys(event)) return;
    const inList = event.composedPath().some((node) => node instanceof Element && node.matches("[role=listbox]"));
    const act = inList ? { ArrowUp: "back", ArrowDown: "next" }[event.key] ?? TRANSPORT_KEYS[event.key] : TRANSPORT_KEYS[event.key];
    if (!act || (!this.speeds && ["faster", "slower"].includes(act))) return;
    event.preventDefault();
    this.acts[act]();
  }

  /** Keys count unless something else on the page has a use for them. */
  #hearsKeys(event) {
    if (!this.root.isConnected) return false;
    const target = event.composedPath()[0];
    if (!(target instanceof Element)) return true;
    if (target.matches("input[type=checkbox]")) return event.key !== " "; // the others mean nothing to a switch
    if (target.closest("input, textarea, select, [contenteditable=true], [role=slider], [role=combobox], [role=dialog]")) return false;
    if (this.root.contains(target)) return !(event.key === " " && target.matches("button"));
    return this.under || !target.closest("a, button, summary, [role=button], [role=menu], [role=option]");
  }

  // ---- speed ------------------------------------------------------------------------------------------------

  setSpeed(speed) {
    const { least, most } = this.speeds;
    this.speed = Math.min(most, Math.max(least, speed));
    this.#showSpeed();
  }

  /** Position of the speed slider (0..100) as a speed, and back: logarithmic. */
  #speedAt(place) {
    const { least, most } = this.speeds;
    return Number((least * (most / least) ** (place / 100)).toPrecision(2));
  }

  #showSpeed() {
    if (!this.speeds) return;
    const { least, most, unit } = this.speeds;
    const place = Math.round((100 * Math.log(this.speed / least)) / Math.log(most / least));
    this.speedInput.value = place;
    this.speedInput.style.setProperty("--done", `${place}%`);
    setText(this.root.querySelector(".player-speed output"), `${readableNumber(this.speed, 2)}${unit}`);
    this.root.dataset.speed = this.speed;
  }

  // ---- the clock --------------------------------------------------------------------------------------------

  /** Call `step` before every frame, with the milliseconds since the last one and the time, until `stop`. */
  run(step) {
    this.stop();
    this.isRunning = true;
    let clock = null;
    const tick = (now) => {
      const mine = this.ticking;
      step(clock === null ? 0 : Math.min(LONGEST_FRAME, now - clock), now);
      clock = now;
      // After the step: what it has to be painted comes first in the next frame. It may have stopped, or begun anew.
      if (this.isRunning && this.ticking === mine) this.ticking = requestAnimationFrame(tick);
    };
    this.ticking = requestAnimationFrame(tick);
  }

  stop() {
    this.isRunning = false;
    cancelAnimationFrame(this.ticking);
  }

  // ---- what is shown ----------------------------------------------------------------------------------------

  /** Where the player is, from 0 to `most`; what that is called; whether it plays, and whether there is a way back, or on. */
  show({ value, most, text, isPlaying, goesBack = value > 0, goesOn = value < most }) {
    const { slider, root } = this;
    slider.max = most || 1;
    slider.value = value;
    slider.style.setProperty("--done", `${most ? (100 * value) / most : 0}%`);
    slider.setAttribute("aria-valuetext", text);
    if (this.count) setText(this.count, text);
    for (const [act, goes] of Object.entries({ first: goesBack, back: goesBack, next: goesOn, last: goesOn })) {
      const button = root.querySelector(`[data-act=${act}]`);
      if (button) button.disabled = !goes;
    }
    const wanted = isPlaying ? "pause" : "play";
    this.play.disabled = !most;
    if ((this.play.dataset.icon ?? "play") === wanted) return;
    this.play.dataset.icon = wanted;
    this.play.innerHTML = transportIcon(wanted);
    this.play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  }

  destroy() {
    this.stop();
    document.removeEventListener("keydown", this.onKey);
  }
}
