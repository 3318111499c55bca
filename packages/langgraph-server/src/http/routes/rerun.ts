import { type ErrorCode, runConfigSchema } from "@throughline/ai-core";
import { z } from "zod";
import type { RunService } from "../../runs/start-request.js";
import type { ThreadService } from "../../runs/thread-service.js";
import { type App, parseBody } from "../request.js";
import { threadOf } from "../request-scope.js";
import type { ActionRoute } from "../route.js";
import { ownRunId, startedSchema, startRerun } from "./app.js";

const THREAD = "/agents/:agentId/threads/:threadName";

const model = z.string().min(1).max(128).optional();
const retrySchema = z.strictObject({
  runId: ownRunId,
  model: model.describe("Another than the one it failed with."),
  config: runConfigSchema.optional().describe("In place of what it was configured with."),
});
const regenerateSchema = z.strictObject({
  messageId: z.string().min(1).max(512).describe("An assistant's message of the conversation."),
  runId: ownRunId,
  model: model.describe("Another than the thread's."),
  config: runConfigSchema.optional(),
});
const regeneratedSchema = startedSchema.extend({
  checkpointId: z.string().describe("Where the thread went back to."),
});

const REFUSALS: readonly ErrorCode[] = [
  "invalid_input",
  "not_found",
  "busy",
  "conflict",
  "interrupt_pending",
  "rate_limited",
  "model_not_allowed",
  "budget_exceeded",
  "models_unavailable",
  "upstream_unavailable",
];

/** Routes that repeat a run: retry a failed one, and regenerate a response. */
export function runAgainRoutes(
  parts: App<{ readonly runs: RunService; readonly threads: ThreadService }>,
): ActionRoute[] {
  const { threads } = parts.service;
  return [
    {
      method: "POST",
      path: `${THREAD}/regenerate`,
      action: "run",
      doc: {
        summary: "Make an answer again",
        description:
          "Runs the thread again from the checkpoint before an assistant's message. That message, and all behind it, is taken back as the run begins (`retract` in the log, with the reason `went_back`) and stays in the history's checkpoints. A question that is open is set aside.",
        tag: "threads",
        body: regenerateSchema,
        response: { status: 202, description: "The run has begun", schema: regeneratedSchema },
        errors: REFUSALS,
      },
      async handle(c, who, arrival) {
        const thread = await threadOf(c, parts, who);
        const { messageId, ...again } = await parseBody(who, regenerateSchema);
        const checkpointId = await threads.checkpointBefore(thread, messageId);
        const input = { kind: "fork", checkpointId, messages: [] } as const;
        const runId = await startRerun(c, parts, who, thread, {
          ...again,
          remembersModel: true,
          arrival,
          input,
        });
        return c.json({ runId, checkpointId }, 202);
      },
    },
    {
      method: "POST",
      path: `${THREAD}/retry`,
      action: "run",
      doc: {
        summary: "Try again what failed",
        description:
          "For a thread whose last run failed, was lost or was stopped, whatever the cause: goes on from where it broke off, or, where nothing of it was stored, begins anew with what it was given. Refused as `conflict` while nothing failed.",
        tag: "threads",
        body: retrySchema,
        response: { status: 202, description: "The run has begun", schema: startedSchema },
        errors: REFUSALS,
      },
      async handle(c, who, arrival) {
        const thread = await threadOf(c, parts, who);
        const { runId, model: other, config } = await parseBody(who, retrySchema);
        const retry = await threads.planRetry(thread);
        const again = {
          ...retry,
          config: config ?? retry.config,
          model: other,
          remembersModel: other !== undefined,
          runId,
          arrival,
        };
        return c.json({ runId: await startRerun(c, parts, who, thread, again) }, 202);
      },
    },
  ];
}

const askAgainSchema = z.strictObject({ runId: ownRunId });

/** Starts a run that reopens the interrupt whose response made the graph fail. */
export function askAgainRoute(parts: App<{ readonly runs: RunService }>): ActionRoute {
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
      response: { status: 202, description: "The run has begun", schema: startedSchema },
      errors: ["invalid_input", "not_found", "busy", "conflict", "rate_limited", "upstream_unavailable"],
    },
    async handle(c, who, arrival) {
      const thread = await threadOf(c, parts, who);
      const { runId } = await parseBody(who, askAgainSchema);
      const input = { kind: "resume", answers: {} } as const;
      return c.json({ runId: await startRerun(c, parts, who, thread, { runId, arrival, input }) }, 202);
    },
  };
}
