/** The reason why a response is refused: the problem and its path in the response. */
export interface ResponseProblem {
  readonly problem: string;
  /** Keys and positions joined by dots; empty for the whole response. */
  readonly path: string;
}

export function mismatch(problem: string, ...path: readonly (string | number)[]): ResponseProblem {
  return { problem, path: path.join(".") };
}
