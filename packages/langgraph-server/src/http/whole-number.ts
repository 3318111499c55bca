import { z } from "zod";

/** A number in a query. Only digits are one: `Number` would take nothing for 0, and `0x10` or `1e3` for what they are. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(
    (text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.number("must be a whole number").int().min(min).max(max),
  );
}
