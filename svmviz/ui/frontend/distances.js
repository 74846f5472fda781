// All distances: the table of pairs with their weights, the two decision rules, and what there is to say of them.

const LARGEST_WEIGHT = 5; // on a slider
const WEIGHT_STEP = 0.1;
const DISTANCE_DIGITS = 4; // of the largest number in a column
const COINCIDE = 1e-7; // of the spread: prototypes that are closer are one

/** A pair of classes as a key of maps, whichever comes first. */
function pairKey(a, b) {
  return `${Math.min(a, b)} ${Math.max(a, b)}`;
}

/**
 * What a pair of classes adds to the objective: a quarter of its weight times the squared distances between its
 * prototypes.
 * @param {object} state as `geometryAt` returns it
 */
function pairRow({ prototypes, distances }, a, b, weight) {
  let [nearest, farthest, squares] = [Infinity, 0, 0];
  prototypes.forEach((p, k) => prototypes.forEach((q, j) => {
    if (p.label !== a || q.label !== b) return;
    const distance = distances[k][j];
    nearest = Math.min(nearest, distance);
    farthest = Math.max(farthest, distance);
    squares += distance ** 2;
  }));
  return { a, b, weight, nearest, farthest, term: (weight * squares) / 4 };
}

/** Numbers of one column with the decimals that the largest of them needs: so one can add them up. */
function columnTexts(values, digits) {
  const largest = Math.max(...values.map(Math.abs));
  if (largest > 0 && (largest >= 1e5 || largest < 1e-3)) return values.map((value) => readableNumber(value, digits));
  const decimals = largest > 0 ? Math.max(0, digits - 1 - Math.floor(Math.log10(largest))) : digits - 1;
  return values.map((value) => value.toFixed(decimals));
}

// ---- decision rules -------------------------------------------------------------------------------

/** How much each prototype claims a place under a rule: w'x + bias, over the normals w = v - mean. */
function ruleFunctions(prototypes, normals, mean, rule) {
  const inner = ([x, y], [u, v]) => x * u + y * v;
  const weights = normals.map((_, p) => normals.map((__, q) => (q === p ? 1 : 0)));
  const products = normals.map((w) => normals.map((other) => inner(w, other)));
  const scores = prototypeScores({ weights, products }, rule === "thesis" ? 1 : 0.5, prototypes.map(({ label }) => label));
  // The normals are seen from the mean, places are not.
  return scores.map((score, p) => ({ ...score, bias: score.bias - inner(normals[p], mean) }));
}

/**
 * The decision of prototypes in the plane (linear kernel) as a model for the Board, the other rule as its rival; null
 * where they coincide, or nothing moves them.
 * @param {object} state as `geometryAt` returns it @param {object} meta meta.geometry from Python
 */
function prototypeModel(state, { rule, lines }) {
  const { prototypes, distances, hulls, overlap } = state;
  if (overlap || !hasLinks(state) || !(Math.max(...distances.flat()) >= leastDistance(hulls))) return null;
  const mean = [0, 1].map((axis) => prototypes.reduce((sum, { at }) => sum + at[axis], 0) / prototypes.length);
  const normals = prototypes.map(({ at }) => [at[0] - mean[0], at[1] - mean[1]]);
  const functions = (name) => ruleFunctions(prototypes, normals, mean, name);
  return {
    kernel: { name: "linear" },
    centres: normals,
    functions: functions(rule),
    rival: prototypes.length > 2 ? functions(otherRule(rule)) : null,
    lines,
    decision: "argmax",
    levels: [],
    scale: middleValue(distances.flat().filter((distance) => distance > 0).map((distance) => distance ** 2 / 2)),
    epsilon: null,
  };
}

/** Whether any weight is above 0: otherwise nothing moves the prototypes. */
function hasLinks({ links }) {
  return links.flat().some((weight) => weight > 0);
}

function otherRule(rule) {
  return rule === "thesis" ? "nearest" : "thesis";
}

/** On how many samples the two rules disagree, and how many each gets wrong. */
function ruleCounts(model, samples, rule) {
  const winner = (functions, { x, y }) => {
    let [best, largest] = [null, -Infinity];
    for (const { coef, bias, classes } of functions) {
      const value = coef.reduce((sum, c, k) => sum + c * (model.centres[k][0] * x + model.centres[k][1] * y), bias);
      if (value > largest) [best, largest] = [classes[0], value];
    }
    return best;
  };
  const counts = { samples: samples.length, disagree: 0, thesis: 0, nearest: 0 };
  for (const sample of samples) {
    const here = winner(model.functions, sample);
    const there = model.rival ? winner(model.rival, sample) : here;
    if (here !== there) counts.disagree += 1;
    if (here !== sample.label) counts[rule] += 1;
    if (there !== sample.label) counts[otherRule(rule)] += 1;
  }
  return counts;
}

// ---- words ----------------------------------------------------------------------------------------

/**
 * Sentences about the prototypes of any number of classes.
 * @param {object} state as `geometryAt` returns it, and rules: what `ruleCounts` counts
 * @param {object} meta meta.geometry from Python @param {(label: number) => string} nameOf
 */
function distanceWords(state, meta, nameOf) {
  const { prototypes } = state;
  const classes = new Set(prototypes.map(({ label }) => label)).size;
  const words = [];
  const apart = Math.max(...state.distances.flat()) > 0 && !state.overlap;
  if (classes === 2) {
    words.push({
      head: "Two classes: this is the μ-SVM.",
      text: `Draw a third class to see why it is called all distances, or take an example that has more: ${meta.examples.join(", ")}.`,
    });
  }
  if (!hasLinks(state)) words.push({ head: "All weights are 0:", text: "nothing moves the prototypes, so nothing is decided." });
  else if (!apart) words.push({ head: "The prototypes coincide:", text: "the reduced hulls have a point in common. Choose a smaller μ, or another kernel." });
  else if (state.rules) words.push(ruleWords(state.rules, meta.rule, prototypes.length, classes));
  words.push(boundWords(state, meta));
  if (prototypes.length > classes) {
    words.push({
      head: `${prototypes.length} prototypes.`,
      text: "Each class is divided into clusters with a hull and a prototype each, and only prototypes of different classes are linked: " +
        "a row of the table adds up all its links, from the shortest to the longest.",
    });
  }
  if (!meta.linear && meta.plane) words.push(planeWords(prototypes.length, apart && hasLinks(state)));
  if (meta.note) words.push({ head: "Note.", text: meta.note });
  return words;
}

function ruleWords({ samples, disagree, thesis, nearest }, rule, count, classes) {
  if (count < 3) return { head: "Decision.", text: `With two prototypes both rules draw the same boundary, which bisects their link: ${thesis} of ${samples} samples ${are(thesis)} on the wrong side.` };
  const shown = rule === "thesis" ? "coloured by AD-SVM's own rule, w·(x − v)" : "coloured by the nearest prototype";
  const many = classes > 2 ? "With three or more classes the" : "With three or more prototypes the";
  return {
    head: "Two rules.",
    text: `${many} boundaries of AD-SVM's own rule do not bisect the links between prototypes, those of the nearest prototype do: here the two ` +
      `disagree on ${disagree} of ${samples} samples (regions are ${shown}; wrong: own rule ${thesis}, nearest ${nearest}).`,
  };
}

function are(count) {
  return count === 1 ? "is" : "are";
}

function boundWords({ mu, least, counts, status }, meta) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const bound = [...status.values()].filter((value) => value === POINT_STATUS.BOUND).length;
  const free = status.size - bound;
  const smallest = Math.round(1 / least);
  const samples = smallest === 1 ? "one sample" : `${smallest} samples`;
  const why = `1 over the ${samples} of the smallest ${meta.least ? "cluster that can be" : "class"}`;
  return {
    head: `μ = ${shareText(mu)},`,
    text: `feasible from ${shareText(least)} (${why}) to 1. ${bound} of ${total} samples ${are(bound)} at the bound μ (dashed ring), ${free} ${are(free)} free (solid ring).`,
  };
}

function planeWords(count, apart) {
  if (!apart) return { head: "The feature plane", text: "shows the two directions of the largest spread: no direction between the prototypes is special here." };
  if (count === 2) return { head: "The feature plane", text: "is an exact shadow of the hulls: along its horizontal axis the distance of the prototypes is the true one." };
  if (count === 3) return { head: "The feature plane", text: "goes through the three prototypes: their distances in it are the true ones, and the hulls are exact shadows." };
  return {
    head: "The feature plane",
    text: `cannot hold ${count} prototypes: it shows their largest spread, and distances in the picture are projections, shorter than they are. The numbers are the true ones.`,
  };
}

// ---- the table ------------------------------------------------------------------------------------

/** All pairs of classes: distance, a slider for the weight, what it adds to the objective, and the certificate. */
class DistanceTable {
  /**
   * @param {HTMLElement} host
   * @param {{onWeight: (pair: string, weight: number) => void, onReset: () => void, onFocus: (pair: ?string) => void}} callbacks
   */
  constructor(host, { onWeight, onReset, onFocus }) {
    Object.assign(this, { host, onWeight, onReset, onFocus });
    host.innerHTML = `<div class="distance-rows"><table class="distance-table"><thead><tr><th>Pair</th><th class="distance-number">distance d</th>
      <th>weight w <button type="button" class="distance-reset" title="All weights back to 1">reset</button></th>
      <th class="distance-number">w·d²/4</th></tr></thead><tbody></tbody>
      <tfoot><tr><th colspan="3">Sum = objective</th><td class="distance-number" data-value="sum"></td></tr></tfoot></table></div>
      <div class="distance-certificate"></div>`;
    this.body = host.querySelector("tbody");
    this.reset = host.querySelector("button");
    this.reset.addEventListener("click", onReset);
    this.lines = new Map();
  }

  /**
   * Show the rows of `pairRow` and the certificate {objective, gap, status}; current: it is that of these rows.
   * Rows stay while the pairs do: a slider must not be replaced under the thumb.
   */
  show({ rows, certificate, current }, nameOf, dark) {
    const key = JSON.stringify([rows.map(({ a, b }) => [a, b, nameOf(a), nameOf(b)]), dark]);
    if (key !== this.key) this.#build(rows, nameOf, dark);
    this.key = key;
    this.reset.disabled = rows.every(({ weight }) => weight === 1);
    const sum = rows.reduce((total, { term }) => total + term, 0);
    const objective = certificate?.objective ?? 0;
    // Two roundings of one number must not differ in the last digit.
    const same = certificate && current && Math.abs(sum - objective) <= 1e-6 * Math.abs(sum);
    const [sumText, objectiveText, ...terms] = columnTexts([same ? objective : sum, objective, ...rows.map(({ term }) => term)], DISTANCE_DIGITS + 1);
    const ends = rows.flatMap(({ nearest, farthest }) => [nearest, farthest]);
    const distances = columnTexts(ends, rows.some(({ nearest, farthest }) => nearest !== farthest) ? DISTANCE_DIGITS - 1 : DISTANCE_DIGITS);
    rows.forEach((row, k) => this.#fill(this.lines.get(pairKey(row.a, row.b)), row, distances.slice(2 * k, 2 * k + 2), terms[k]));
    setText(this.host.querySelector("[data-value=sum]"), sumText);
    const place = this.host.querySelector(".distance-certificate");
    setText(place, certificate ? `Certificate: objective ${objectiveText}, gap ${certificate.gap}, ${certificate.status}` : "");
    place.dataset.current = String(current);
    Object.assign(this.host.dataset, { sum: String(sum), objective: String(certificate?.objective ?? ""), current: String(current) });
  }

  #build(rows, nameOf, dark) {
    this.lines.clear();
    this.host.dataset.long = String(rows.some(({ a, b }) => nameOf(a).length > 3 || nameOf(b).length > 3));
    this.body.replaceChildren(...rows.map(({ a, b }) => {
      const line = element("tr", "distance-row");
      const pair = element("th", "distance-pair");
      for (const label of [a, b]) {
        const name = element("span", "distance-class");
        name.innerHTML = markSvg(label, dark, 15);
        name.append(element("span", "distance-name", nameOf(label)));
        name.title = nameOf(label);
        pair.append(name);
      }
      const [distance, term] = [element("td", "distance-number"), element("td", "distance-number")];
      const cell = element("td", "distance-weight");
      const slider = element("input", "");
      Object.assign(slider, { type: "range", min: "0", max: String(LARGEST_WEIGHT), step: String(WEIGHT_STEP) });
      slider.setAttribute("aria-label", `Weight of the pair ${nameOf(a)} and ${nameOf(b)}`);
      const shown = element("span", "distance-value");
      cell.append(slider, shown);
      line.append(pair, distance, cell, term);
      line.dataset.pair = pairKey(a, b);
      slider.addEventListener("input", () => this.onWeight(pairKey(a, b), Number(slider.value)));
      line.addEventListener("pointerenter", () => this.onFocus(pairKey(a, b)));
      line.addEventListener("pointerleave", () => this.onFocus(null));
      slider.addEventListener("focus", () => this.onFocus(pairKey(a, b)));
      slider.addEventListener("blur", () => this.onFocus(null));
      this.lines.set(pairKey(a, b), { distance, term, slider, shown });
      return line;
    }));
  }

  #fill({ distance, term, slider, shown }, row, [near, far], termText) {
    setText(distance, near === far ? near : `${near}–${far}`);
    setText(term, termText);
    setText(shown, readableNumber(row.weight, 2));
    if (Number(slider.value) !== row.weight) slider.value = String(row.weight);
    slider.style.setProperty("--done", `${100 * Math.min(1, row.weight / LARGEST_WEIGHT)}%`);
  }
}
