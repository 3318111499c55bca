export interface Style {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Colours where a person looks, none in a pipe or under NO_COLOR (any value but an empty one). */
export function styleFor(
  output: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  const coloured = output.isTTY === true && !env.NO_COLOR;
  const paint = (code: number) => (text: string) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { dim: paint(2), bold: paint(1), red: paint(31), cyan: paint(36) };
}
