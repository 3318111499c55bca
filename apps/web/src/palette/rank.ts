/**
 * How well a text answers what was typed: higher is better, `undefined` is not at all. Every word typed must occur, in any
 * order; the beginning of the text counts most, then the beginning of a word.
 */
function rank(text: string, typed: string): number | undefined {
  const words = fold(typed).split(/\s+/).filter(Boolean);
  const folded = fold(text);
  let score = 0;
  for (const word of words) {
    const at = folded.indexOf(word);
    if (at < 0) return undefined;
    if (at === 0) score += 3;
    else score += folded[at - 1] === " " ? 2 : 1;
  }
  // Of two that fit alike, the shorter one is meant.
  return score - folded.length / 1_000;
}

/** The best first; what fits alike stays in its order. */
export function ranked<T>(all: readonly T[], typed: string, textOf: (one: T) => string): readonly T[] {
  if (typed.trim() === "") return all;
  return all
    .flatMap((one) => {
      const score = rank(textOf(one), typed);
      return score === undefined ? [] : [{ one, score }];
    })
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

/** Accents and case are forgotten: who looks for "cafe" means "Café". */
function fold(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}
