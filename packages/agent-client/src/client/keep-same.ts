/** The value before, if all fields of the new one are the same there: who compares with `===` sees that nothing changed. */
export function keepSame<T extends object>(before: T | undefined, now: T): T {
  if (!before) return now;
  for (const name in now) if (now[name] !== before[name]) return now;
  return before;
}
