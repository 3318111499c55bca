import { newRunId } from "@throughline/ai-core";
import { z } from "zod";
import { runIdSchema } from "../ag-ui/run-agent-input.js";
import type { RunService } from "../drive/run-service.js";
import { requireAccepted } from "../drive/start-refusal.js";
import { bodyOf } from "../http/checked-request.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { threadOf } from "../http/thread-of.js";
import { callerIn, visibilityOf } from "../thread/visibility.js";

const askAgainSchema = z.strictObject({
  runId: runIdSchema
    .optional()
    .describe("The caller's own name of the run: the same again attaches to the same run."),
});

const askedAgainSchema = z.object({ runId: z.string().describe("The run that asks.") });

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
      answer: { status: 202, description: "The run has begun", schema: askedAgainSchema },
      errors: ["invalid_input", "not_found", "busy", "conflict", "rate_limited", "upstream_unavailable"],
    },
    async handle(c, who, arrival) {
      const thread = await threadOf(c, parts, who);
      const { runId } = await bodyOf(who, askAgainSchema);
      const { requestId, traceparent } = c.get("trace");
      const outcome = await parts.service.runs.start({
        thread,
        caller: callerIn(who.caller, visibilityOf(thread.ref)),
        ingressRequestId: requestId,
        traceparent,
        clientRunId: runId ?? newRunId(parts.clock),
        arrival,
        input: { kind: "resume", answers: {} },
        tools: [],
        context: [],
        profile: "user",
        strategy: "reject",
      });
      const { run } = requireAccepted(outcome);
      who.note({ target: { runId: run.runId } });
      return c.json({ runId: run.runId }, 202);
    },
  };
}
