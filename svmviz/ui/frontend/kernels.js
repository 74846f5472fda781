// Kernels, as in the Python package: a specification is {name, gamma, degree, coef0}.

/** base ** exponent; small whole exponents by multiplication, which is several times faster. */
function power(base, exponent) {
  if (!Number.isInteger(exponent) || exponent < 1 || exponent > 8) return base ** exponent;
  let result = base;
  for (let k = 1; k < exponent; k += 1) result *= base;
  return result;
}

/** What a dot-product kernel makes of the dot product. */
function dotKernel(spec) {
  const { gamma, degree, coef0 } = spec;
  switch (spec.name) {
    case "linear": return (dot) => dot;
    case "poly": return (dot) => power(gamma * dot + coef0, degree);
    case "sigmoid": return (dot) => Math.tanh(gamma * dot + coef0);
    default: throw new Error(`unknown kernel: ${spec.name}`);
  }
}

/** For a kernel that is a product over coordinates: its factor for a difference. Null for the others. */
function factorKernel(spec) {
  const { gamma } = spec;
  if (spec.name === "rbf") return (difference) => Math.exp(-gamma * difference * difference);
  if (spec.name === "laplacian") return (difference) => Math.exp(-gamma * Math.abs(difference));
  return null;
}

/**
 * k(a, b).
 * @param {{name: string, gamma: number, degree: number, coef0: number}} spec
 * @param {number[]} a @param {number[]} b points of equal length
 */
function kernelValue(spec, a, b) {
  if (spec.name === "rbf" || spec.name === "laplacian") {
    let distance = 0;
    for (let k = 0; k < a.length; k += 1) {
      const difference = a[k] - b[k];
      distance += spec.name === "rbf" ? difference * difference : Math.abs(difference);
    }
    return Math.exp(-spec.gamma * distance);
  }
  let dot = 0;
  for (let k = 0; k < a.length; k += 1) dot += a[k] * b[k];
  return dotKernel(spec)(dot);
}

/** Gram matrix of A (rows) and B (columns), row by row in one Float64Array; A itself when it is precomputed. */
function gramMatrix(spec, A, B) {
  if (spec.name === "precomputed" || spec.name === "callable") return Float64Array.from(A.flat());
  const gram = new Float64Array(A.length * B.length);
  A.forEach((a, i) => B.forEach((b, j) => { gram[i * B.length + j] = kernelValue(spec, a, b); }));
  return gram;
}

/** Values of a dot-product kernel k(., centre) at all (x, y), rows of equal y. */
function kernelColumn(spec, xs, ys, [cx, cy = 0]) {
  const map = dotKernel(spec);
  const column = new Float64Array(xs.length * ys.length);
  let at = 0;
  for (const y of ys) for (const x of xs) column[at++] = map(x * cx + y * cy);
  return column;
}
