import { z } from "zod";
import { queryOf } from "./checked-request.js";
import type { RouteContext } from "./ingress.js";

export const followQuerySchema = z.object({
  follow: z
    .enum(["", "1", "true", "0", "false"])
    .optional()
    .describe("Whether the stream goes on after what there is now, over many runs."),
});

/** `undefined` where the request does not say. */
export function followOf(c: RouteContext): boolean | undefined {
  const { follow } = queryOf(c, followQuerySchema);
  return follow === undefined ? undefined : follow !== "0" && follow !== "false";
}
