/** Why an answer can't be given: what is wrong, and where in the answer. */
export interface Mismatch {
  readonly problem: string;
  /** Keys and positions joined by dots; empty for the answer as a whole. */
  readonly path: string;
}

export function mismatch(problem: string, ...path: readonly (string | number)[]): Mismatch {
  return { problem, path: path.join(".") };
}
