import type { Json } from "@throughline/ai-core";

/**
 * Whether an external value is plain data that equals our copy. Several times cheaper than making a copy to compare: most of
 * a large state does not change from step to step. May throw where a getter does.
 */
export function equalsPlain(value: unknown, plain: Json | undefined): boolean {
  if (value === plain) return true;
  if (typeof value !== "object" || value === null || typeof plain !== "object" || plain === null)
    return false;
  if (Array.isArray(value)) {
    if (!Array.isArray(plain) || plain.length !== value.length) return false;
    for (let index = 0; index < value.length; index += 1) {
      if (!equalsPlain(value[index], plain[index])) return false;
    }
    return true;
  }
  if (Array.isArray(plain) || Object.getPrototypeOf(value) !== Object.prototype) return false;
  const record = value as Readonly<Record<string, unknown>>;
  let keys = 0;
  for (const key in record) {
    if (!equalsPlain(record[key], plain[key])) return false;
    keys += 1;
  }
  for (const _ in plain) keys -= 1;
  return keys === 0;
}
