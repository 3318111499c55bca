import { z } from "zod";
import type { RunService } from "../drive/run-service.js";
import { bodyOf } from "../http/checked-request.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { threadOf } from "../http/thread-of.js";
import { ownRunId, startAgain, startedSchema } from "./start-again.js";

const askAgainSchema = z.strictObject({ runId: ownRunId });

/** Starts a run that asks again what was answered in a way that made the graph fail. */
export function askAgainRoute(parts: RouteParts<{ readonly runs: RunService }>): ActionRoute {
  return {
    method: "POST",
    path: "/agents/:agentId/threads/:threadName/ask-again",
    action: "answer",
    doc: {
      summary: "Ask again what an answer made fail",
      description:
        "For a thread whose run failed because of an answer: the answer is taken back and the question asked anew. Past a breakpoint, the graph goes on. Refused as `conflict` while nothing failed.",
      tag: "threads",
      body: askAgainSchema,
      answer: { status: 202, description: "The run has begun", schema: startedSchema },
      errors: ["invalid_input", "not_found", "busy", "conflict", "rate_limited", "upstream_unavailable"],
    },
    async handle(c, who, arrival) {
      const thread = await threadOf(c, parts, who);
      const { runId } = await bodyOf(who, askAgainSchema);
      const input = { kind: "resume", answers: {} } as const;
      return c.json({ runId: await startAgain(c, parts, who, thread, { runId, arrival, input }) }, 202);
    },
  };
}
