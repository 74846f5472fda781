// Colours, shapes and rings: everything that must look the same on every picture.

/**
 * The classes in the order of their labels. Colours are Okabe and Ito's, lightened for dark
 * backgrounds; every class also has a shape of its own, so that colour is never needed.
 */
const CLASS_STYLES = [
  { name: "A", sign: "●", shape: "circle", light: "#0072B2", dark: "#4FB0F0" },
  { name: "B", sign: "▲", shape: "triangle", light: "#D55E00", dark: "#FF8B3D" },
  { name: "C", sign: "■", shape: "square", light: "#009E73", dark: "#2FD0A0" },
  { name: "D", sign: "◆", shape: "diamond", light: "#B8578F", dark: "#E99CC9" },
  { name: "E", sign: "✖", shape: "cross", light: "#C98A00", dark: "#F3BF45" },
  { name: "F", sign: "★", shape: "star", light: "#5C5C5C", dark: "#CFCFCF" },
];

const POINT_STATUS = { NONE: 0, FREE: 1, BOUND: 2 };

/** The style of a class label (labels beyond the last style start again at the first). */
function classStyle(label) {
  return CLASS_STYLES[((label % CLASS_STYLES.length) + CLASS_STYLES.length) % CLASS_STYLES.length];
}

/** The CSS colour of a class label. */
function classColour(label, dark) {
  const style = classStyle(label);
  return dark ? style.dark : style.light;
}

/** "#rrggbb", "rgb(...)" or "rgba(...)" as [red, green, blue], each 0 to 255. */
function parseColour(text) {
  const value = text.trim();
  if (value.startsWith("#")) {
    const hex = value.length < 7 ? [...value.slice(1, 4)].map((c) => c + c).join("") : value.slice(1, 7);
    return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
  }
  const numbers = value.match(/[\d.]+/g) ?? ["128", "128", "128"];
  return numbers.slice(0, 3).map(Number);
}

/** A colour with an opacity, for canvas and CSS. */
function withAlpha(colour, alpha) {
  const [red, green, blue] = parseColour(colour);
  return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
}

/**
 * The page's theme, read from the CSS variables that Streamlit sets.
 * @param {Element} element any element inside the component
 * @returns {{text: string, background: string, secondary: string, primary: string, font: string, dark: boolean}}
 */
function theme(element) {
  const style = getComputedStyle(element);
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const background = read("--st-background-color", "#ffffff");
  const [red, green, blue] = parseColour(background);
  return {
    text: read("--st-text-color", "#31333f"),
    background,
    secondary: read("--st-secondary-background-color", "#f0f2f6"),
    primary: read("--st-primary-color", "#ff4b4b"),
    font: read("--st-font", "sans-serif"),
    dark: 0.299 * red + 0.587 * green + 0.114 * blue < 128,
  };
}

/** Corners of a regular polygon or star as [x, y] pairs; `radii` alternate round the centre. */
function corners(x, y, count, radii, turn) {
  return Array.from({ length: count }, (_, k) => {
    const angle = turn + (2 * Math.PI * k) / count;
    const radius = radii[k % radii.length];
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** Corners of a diagonal cross with thick arms. */
function crossCorners(x, y, reach, arm) {
  const upright = [
    [arm, reach], [arm, arm], [reach, arm], [reach, -arm], [arm, -arm], [arm, -reach],
    [-arm, -reach], [-arm, -arm], [-reach, -arm], [-reach, arm], [-arm, arm], [-arm, reach],
  ];
  const half = Math.SQRT1_2;
  return upright.map(([u, v]) => [x + half * (u - v), y + half * (u + v)]);
}

/** Corners of the marks; the circle has none. Sizes are chosen so that all look equally large. */
function markCorners(shape, x, y, r) {
  const up = -Math.PI / 2;
  switch (shape) {
    case "triangle": return corners(x, y + 0.18 * r, 3, [1.36 * r], up);
    case "square": return corners(x, y, 4, [1.28 * r], Math.PI / 4);
    case "diamond": return corners(x, y, 4, [1.32 * r], up);
    case "star": return corners(x, y, 10, [1.5 * r, 0.66 * r], up);
    case "cross": return crossCorners(x, y, 1.3 * r, 0.44 * r);
    default: return null;
  }
}

/** Lay the outline of a mark as the context's current path. */
function markPath(ctx, shape, x, y, r) {
  const outline = markCorners(shape, x, y, r);
  ctx.beginPath();
  if (outline === null) {
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    return;
  }
  outline.forEach(([u, v], k) => (k ? ctx.lineTo(u, v) : ctx.moveTo(u, v)));
  ctx.closePath();
}

/**
 * Draw the mark of a class.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} shape one of the shapes of CLASS_STYLES
 * @param {number} x @param {number} y centre, in pixels
 * @param {number} r radius of the circle that looks as large
 * @param {?string} fill @param {?string} stroke colours, null for none
 * @param {number} width of the stroke
 */
function drawMark(ctx, shape, x, y, r, fill, stroke = null, width = 1.5) {
  markPath(ctx, shape, x, y, r);
  ctx.lineJoin = "round";
  if (stroke) {
    // The outline first: the fill then covers its inner half and the mark keeps its size.
    ctx.strokeStyle = stroke;
    ctx.lineWidth = 2 * width;
    ctx.stroke();
  }
  if (fill) {
    ctx.fillStyle = fill;
    ctx.fill();
  }
}

/**
 * Draw the ring of a support vector: solid when its multiplier is free, dashed when it is at its bound.
 * @param {number} status 1 free, 2 at the bound; 0 draws nothing
 * @param {string} colour @param {string} under colour of the band that sets the ring off from the field
 */
function drawRing(ctx, status, x, y, r, colour, under = null, width = 2) {
  if (status === POINT_STATUS.NONE) return;
  ctx.save();
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
  if (under) {
    ctx.strokeStyle = under;
    ctx.lineWidth = width + 2;
    ctx.stroke();
  }
  const dash = (2 * Math.PI * r) / 16;
  if (status === POINT_STATUS.BOUND) ctx.setLineDash([dash, dash]);
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.stroke();
  ctx.restore();
}

/** The mark of a class as the text of an inline SVG, for buttons and legends. */
function markSvg(label, dark, size = 16) {
  const half = size / 2;
  const radius = 0.3 * size;
  const { shape } = classStyle(label);
  const outline = markCorners(shape, half, half, radius);
  const body = outline === null
    ? `<circle cx="${half}" cy="${half}" r="${radius}"/>`
    : `<polygon points="${outline.map((p) => p.map((v) => v.toFixed(2)).join(",")).join(" ")}"/>`;
  return `<svg width="${size}" height="${size}" viewBox="0 0 ${size} ${size}" fill="${classColour(label, dark)}" aria-hidden="true">${body}</svg>`;
}
