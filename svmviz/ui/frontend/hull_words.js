// What a geometry says in words: sentences and numbers built from what is drawn.

/** A share or a mu: short, but not rounded to nothing. */
function shareText(value) {
  return readableNumber(value, 3);
}

/**
 * The makers of a place as text: "● 3: 0.25, ▲ 7: 0.25 …", the heaviest first.
 * @param {{label: number, number: number, weight: number}[]} makers number is that of the point, from 1
 */
function makersText(makers, most = 14) {
  const ordered = [...makers].sort((p, q) => q.weight - p.weight || p.number - q.number);
  const shown = ordered.slice(0, most).map(({ label, number, weight }) => `${classStyle(label).sign}\u00a0${number}:\u00a0${shareText(weight)}`);
  const rest = ordered.slice(most);
  if (!rest.length) return shown.join(", ");
  const [least, largest] = [rest[rest.length - 1].weight, rest[0].weight].map(shareText);
  return `${shown.join(", ")}, and ${rest.length} more of ${least === largest ? `${least} each` : `${least} to ${largest}`}`;
}

/** What a place is made of, or what a sample makes. */
function madeText({ sample, prototype, makers }, state) {
  if (!sample) return makersText(makers);
  const status = state.status.get(sample.id) ?? POINT_STATUS.NONE;
  const why = { [POINT_STATUS.BOUND]: "the bound μ", [POINT_STATUS.FREE]: "free, between 0 and μ", [POINT_STATUS.NONE]: "too far away to count" };
  return `weight ${status ? shareText(sample.weight) : 0} in ${prototype}: ${why[status]}.`;
}

/** nu that belongs to a mu, and the largest that is feasible: at the smallest mu. */
function nuOf(mu, samples) {
  return 2 / (mu * samples);
}

/**
 * Sentences about two reduced hulls.
 * @param {object} state as `geometryAt` returns it @param {object} meta meta.geometry from Python
 * @param {(label: number) => string} nameOf @param {string[]} axes names of the two coordinates
 * @returns {{head: string, text: string}[]}
 */
function hullWords(state, meta, nameOf, axes) {
  const { mu, least, overlap, distances, prototypes, counts } = state;
  const [first, second] = prototypes.map(({ label }) => `${classStyle(label).sign} ${nameOf(label)}`);
  const sizes = { bound: 0, free: 0 };
  for (const status of state.status.values()) sizes[status === POINT_STATUS.BOUND ? "bound" : "free"] += 1;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const words = [];
  const space = meta.linear ? "" : " in feature space";
  if (overlap) {
    words.push({
      head: `The hulls of ${first} and ${second} overlap: distance 0.`,
      text: `${meta.linear ? "No line separates" : "Nothing linear in feature space separates"} them. The solution is a common point ` +
        "(v₊ = v₋, one of many), w = v₊ − v₋ = 0, and ν-SVC has no margin here.",
    });
  } else {
    words.push({
      head: `Distance ${readableNumber(distances[0][1], 4)}${space} between the hulls of ${first} and ${second}.`,
      text: (meta.linear ? lineWords(state, axes)
        : "What lies halfway between v₋ and v₊, at right angles to their link, separates the hulls: on the Board it is the boundary.") +
        shiftWords(meta.linear ? shiftOf(state) : meta.shift ?? null, prototypes),
    });
  }
  words.push({ head: "First touch.", text: criticalWords(meta.critical, overlap) });
  words.push({ head: `μ = ${shareText(mu)}:`, text: muWords(mu, least, counts, prototypes, nameOf) });
  const samples = `${sizes.bound} of ${total} ${sizes.bound === 1 ? "has" : "have"} weight μ, the bound (dashed ring); ${sizes.free} ` +
    `${sizes.free === 1 ? "is" : "are"} free, between 0 and μ (solid ring).`;
  words.push({ head: overlap ? "Samples of this point." : "Samples.", text: samples });
  if (!meta.linear && meta.plane) {
    words.push({
      head: "The feature plane",
      text: overlap ? "shows the two directions of the largest spread, for where v₊ = v₋ no direction is special."
        : "is an exact shadow of the hulls. Along its horizontal axis, from v₋ to v₊, the gap is the true distance; other lengths look shorter than they are.",
    });
  }
  if (meta.note) words.push({ head: "Note.", text: meta.note });
  return words;
}

/** The line halfway between the nearest points, as an equation, and how many samples it has on the wrong side. */
function lineWords({ prototypes, groups }, axes) {
  const [a, b] = prototypes.map(({ at }) => at);
  const [w, v] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(w, v);
  const level = ((a[0] + b[0]) * w + (a[1] + b[1]) * v) / 2;
  const side = ({ x, y }) => x * w + y * v - level;
  const wrong = groups[0].filter((sample) => side(sample) > 0).length + groups[1].filter((sample) => side(sample) < 0).length;
  const total = groups[0].length + groups[1].length;
  const [p, q, r] = [w / length, v / length, level / length].map((value) => readableNumber(value, 3));
  const second = q.startsWith("−") ? `− ${q.slice(1)}` : `+ ${q}`;
  return `The line ${p}·${axes[0]} ${second}·${axes[1]} = ${r} bisects the link between v₋ and v₊ at right angles; ` +
    `${wrong} of ${total} samples ${wrong === 1 ? "is" : "are"} on the wrong side of it.`;
}

/**
 * How far the line of nu-SVC lies from the one halfway, in the direction of v₊: it is midway between the margins,
 * which go through the free samples. Null where a class has none, so that it has a choice.
 */
function shiftOf({ prototypes, groups, status }) {
  const [a, b] = prototypes.map(({ at }) => at);
  const [w, v] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(w, v);
  const margins = groups.map((group) => group.find(({ id }) => status.get(id) === POINT_STATUS.FREE));
  if (!(length > 0) || margins.includes(undefined)) return null;
  const along = ({ x, y }) => ((x - (a[0] + b[0]) / 2) * w + (y - (a[1] + b[1]) / 2) * v) / length;
  return (along(margins[0]) + along(margins[1])) / 2;
}

function shiftWords(shift, prototypes) {
  if (shift === null || Math.abs(shift) < 5e-4) return "";
  const { label } = prototypes[shift > 0 ? 1 : 0];
  return ` (ν-SVC has the same w, but its boundary midway between the margins: ${readableNumber(Math.abs(shift), 2)} nearer to ${classStyle(label).sign}.)`;
}

/** When the hulls first meet, and what that means here. */
function criticalWords(critical, overlap) {
  if (critical === null) return "…";
  if (critical === "never") return "Never: even the whole convex hulls, at μ = 1, are apart, so all samples can be separated.";
  if (critical === "always") return "They meet at every μ: even at the smallest, where the smaller class is only its mean. Try a kernel, or move points.";
  const where = overlap ? "From there on they overlap, as they do now" : "Below it they are apart, as they are now";
  return `At μ = ${readableNumber(critical, 4)} (the tick on the slider). ${where}.`;
}

function muWords(mu, least, counts, prototypes, nameOf) {
  const whole = Math.ceil(1 / mu - 1e-9);
  if (mu >= 1) return "no bound at all, the hulls are the convex hulls: as in the hard-margin machine, one sample may carry all the weight.";
  const smallest = counts.indexOf(Math.min(...counts));
  const alike = counts.every((count) => count === counts[0]);
  const means = alike ? "both hulls are only the means" : `the hull of ${nameOf(prototypes[smallest].label)} is only its mean`;
  if (mu <= least * (1 + 1e-9)) {
    return `the smallest, 1 over ${counts[smallest]}: ${means}.`;
  }
  return `no sample weighs more: every point of a hull mixes ${whole} samples or more. At ${shareText(least)}, the smallest μ, ${means}.`;
}

/** What nu-SVC calls the same machine. */
function nuWords(mu, least, samples) {
  return `ν = 2 / (μ m), with m = ${samples} samples: from ${readableNumber(2 / samples, 3)} (μ = 1) to ${readableNumber(nuOf(least, samples), 3)} (the smallest μ).`;
}

const GEOMETRY_WORDS = { hulls: hullWords, distances: distanceWords };
