import { invalidInput } from "@throughline/ai-core";
import { z } from "zod";
import type { RouteContext } from "./ingress.js";

export const followQuerySchema = z.object({
  follow: z
    .enum(["", "1", "true", "0", "false"])
    .optional()
    .describe("Whether the stream goes on after what there is now, over many runs."),
});

/** `undefined` where the request does not say. */
export function followOf(c: RouteContext): boolean | undefined {
  const parsed = followQuerySchema.safeParse(c.req.query());
  if (!parsed.success) throw invalidInput(parsed.error, "query");
  const { follow } = parsed.data;
  return follow === undefined ? undefined : follow !== "0" && follow !== "false";
}
