export interface Telling {
  /** Questions to notify of now. */
  readonly untold: readonly string[];
  /** What to remember: all that wait, so that none is told twice. */
  readonly told: readonly string[];
}

/** Which questions a person was not told of yet. `told` undefined: what waited before they wanted to be told, the list shows. */
export function untoldOf(told: readonly string[] | undefined, waiting: readonly string[]): Telling {
  return { untold: told ? waiting.filter((key) => !told.includes(key)) : [], told: waiting };
}
