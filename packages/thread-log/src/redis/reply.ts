// What Redis answers, checked at the one place where it enters.

export function listIn(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError(`Redis answered ${typeof reply} where a list was expected.`);
}

export function textIn(reply: unknown): string {
  if (typeof reply === "string") return reply;
  if (typeof reply === "number") return String(reply);
  throw new TypeError(`Redis answered ${typeof reply} where a text was expected.`);
}

export function numberIn(reply: unknown): number {
  const value = Number(textIn(reply));
  if (Number.isSafeInteger(value)) return value;
  throw new TypeError("Redis answered a number that is none.");
}
