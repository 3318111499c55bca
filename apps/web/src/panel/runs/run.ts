import { type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService, ServiceError } from "../../service/ask-service";

const runSchema = z.object({
  runId: z.string(),
  status: z.enum(["queued", "running", "success", "interrupted", "cancelled", "error", "lost"]),
  startedBy: z.object({ kind: z.enum(["client", "cron", "foreign"]), id: z.optional(z.string()) }),
  work: z.enum(["graph", "foreign", "reconcile"]),
  model: z.string(),
  attempt: z.number(),
  createdAt: z.string(),
  endedAt: z.nullable(z.string()),
});

/** A run as the service lists it. */
export type Run = Readonly<z.output<typeof runSchema>>;

/** Newest first. None of a thread that has not begun to exist. */
export async function listRuns(thread: ThreadName, signal: AbortSignal): Promise<readonly Run[]> {
  const path = threadCall(thread, "/runs", { limit: "100" });
  try {
    return (await askService(path, z.object({ runs: z.array(runSchema) }), { signal })).runs;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return [];
    throw error;
  }
}
