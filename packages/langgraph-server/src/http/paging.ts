import { z } from "zod";

/** A number in a query. Only digits are accepted: `Number` would read an empty text as 0, and accept `0x10` and `1e3`. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(
    (text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.number("must be a whole number").int().min(min).max(max),
  );
}

/** The query of a route that answers page by page. */
export const pageSchema = z.object({
  limit: wholeNumber(1, 100).default(50),
  after: z.string().min(1).max(1_000).optional().describe("`next` of the page before."),
});

export const nextSchema = z
  .string()
  .nullable()
  .describe("Ask with it for the next page; null on the last page.");
