import { z } from "zod";
import { wholeNumber } from "./whole-number.js";

/** What a route takes that answers page by page. */
export const pageSchema = z.object({
  limit: wholeNumber(1, 100).default(50),
  after: z.string().min(1).max(1_000).optional().describe("`next` of the page before."),
});

export const nextSchema = z
  .string()
  .nullable()
  .describe("Ask with it for the next page; null on the last page.");
