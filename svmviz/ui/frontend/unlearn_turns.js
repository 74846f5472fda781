// What came of leaving out everyone: two rows of chips, with a sign of how many more there are. They list those that
// change sides, or how much each matters.

class Turns {
  /** @param {HTMLElement} host @param {() => void} onSwitch the other list was chosen */
  constructor(host, onSwitch) {
    this.isRanking = false;
    this.lists = element("div", "unlearn-lists");
    this.lists.setAttribute("role", "group");
    this.lists.setAttribute("aria-label", "What the list shows");
    this.buttons = [false, true].map((isRanking) => this.#listButton(isRanking, onSwitch));
    this.lists.replaceChildren(...this.buttons);
    this.chips = element("div", "unlearn-flips");
    this.more = element("button", "unlearn-button unlearn-more");
    this.more.type = "button";
    this.more.hidden = true;
    host.replaceChildren(this.lists, this.chips, this.more);
    this.chips.addEventListener("scroll", () => this.#showMore());
    this.more.addEventListener("click", () => this.#next());
    this.observer = new ResizeObserver(() => this.#showMore());
    this.observer.observe(this.chips);
  }

  #listButton(isRanking, onSwitch) {
    const button = element("button", "unlearn-button", isRanking ? "Which matter most" : "Which change sides");
    button.type = "button";
    if (isRanking) button.title = "How far the machine's own value at a point goes when it does not know the point";
    button.addEventListener("click", () => {
      this.isRanking = isRanking;
      this.show(this.everyone, this.shown);
      onSwitch();
    });
    return button;
  }

  /**
   * @param {?{flips: [number, string][], ranked: [number, number, string][]}} everyone
   * @param {?{names: string[], rows: number[]}} shown see svmviz/ui/unlearning.py
   */
  show(everyone, shown) {
    [this.everyone, this.shown] = [everyone, shown];
    const { flips = [], ranked = [] } = everyone ?? {};
    this.isRanking = ranked.length > 0 && (this.isRanking || !flips.length);
    this.lists.hidden = !ranked.length;
    this.buttons[0].hidden = !flips.length; // a regression has no sides
    this.buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(this.isRanking === Boolean(k))));
    const chips = this.isRanking
      ? ranked.map(([i, , change], k) => [i, `${k + 1}: ${shown.names[i]} by ${change}`])
      : flips.map(([i, turn]) => [i, `${shown.names[i]}: ${turn}`]);
    this.chips.replaceChildren(...chips.map(([i, text]) => this.#chip(shown.rows[i], text)));
    this.#showMore();
  }

  #chip(row, text) {
    const chip = element("button", "unlearn-button", text);
    chip.type = "button";
    chip.dataset.row = row;
    chip.title = this.isRanking
      ? "So far its own value goes when it is left out: unlearn it."
      : "What the machine says of it with it, and without it: unlearn it.";
    return chip;
  }

  /** How many are below those in view. */
  get #below() {
    const bottom = this.chips.scrollTop + this.chips.clientHeight;
    return [...this.chips.children].filter((chip) => chip.offsetTop + chip.offsetHeight > bottom + 2).length;
  }

  #showMore() {
    this.more.hidden = this.chips.scrollHeight <= this.chips.clientHeight + 2;
    setText(this.more, this.#below ? `${this.#below} more \u2193` : "back \u2191");
  }

  #next() {
    this.chips.scrollTop = this.#below ? this.chips.scrollTop + this.chips.clientHeight : 0;
    this.#showMore();
  }

  destroy() {
    this.observer.disconnect();
  }
}
