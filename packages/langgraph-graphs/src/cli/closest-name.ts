/** The name a person most likely meant, or `undefined` when nothing is near enough to suggest. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: editDistance(typed.toLowerCase(), name) }))
    .sort((left, right) => left.distance - right.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(best.name.length / 2)) ? best.name : undefined;
}

/** Levenshtein distance; O(n·m), for names of a dozen characters. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
