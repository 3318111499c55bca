/** A target as the report prints it: the sign says which way is better. */

/** @param {string} name @param {number} value @param {number} bound */
export function atLeast(name, value, bound) {
  return { name, value, target: `>= ${bound}`, met: value >= bound };
}

/** @param {string} name @param {number} value @param {number} bound */
export function atMost(name, value, bound) {
  return { name, value, target: `<= ${bound}`, met: value <= bound };
}
