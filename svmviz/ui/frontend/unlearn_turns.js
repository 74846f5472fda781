// Those that change sides when they are left out: two rows of chips, with a sign of how many more there are.

class Turns {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.chips = element("div", "unlearn-flips");
    this.more = element("button", "unlearn-button unlearn-more");
    this.more.type = "button";
    this.more.hidden = true;
    host.replaceChildren(this.chips, this.more);
    this.chips.addEventListener("scroll", () => this.#showMore());
    this.more.addEventListener("click", () => this.#next());
    this.observer = new ResizeObserver(() => this.#showMore());
    this.observer.observe(this.chips);
  }

  /** @param {[number, string][]} flips @param {?{names: string[], rows: number[]}} shown see svmviz/ui/unlearning.py */
  show(flips, shown) {
    this.chips.replaceChildren(...flips.map(([i, turn]) => {
      const chip = element("button", "unlearn-button", `${shown.names[i]}: ${turn}`);
      chip.type = "button";
      chip.dataset.row = shown.rows[i];
      chip.title = "What the machine says of it with it, and without it: unlearn it.";
      return chip;
    }));
    this.#showMore();
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
