import { isDeepStrictEqual } from "node:util";
import { type GraphCheckpoint, type JsonObject, newRunId, ThroughlineError } from "@throughline/ai-core";
import type { Finish, LeasedRun, RunOrigin, RunRegistry } from "@throughline/thread-log";
import { decodeRunSpec, encodeRunSpec, systemRunSpec } from "../threads/run-spec.js";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { DriverDeps } from "./run-driver.js";
import { requireAccepted } from "./start-run.js";

export interface StateEdit {
  /** Channels by name, each set to its value. */
  readonly values: JsonObject;
  /** The checkpoint that it was made at; the newest when absent. */
  readonly checkpointId?: string | undefined;
  /** The node it counts as; the last one that ran when absent. */
  readonly asNode?: string | undefined;
  /** The person who edits. */
  readonly person?: string | undefined;
}

/** Origin of a run that writes an edit. */
const EDIT_ORIGIN: RunOrigin = { kind: "client", id: "edit_state" };

export function isEdit({ origin, request }: Pick<LeasedRun["run"], "origin" | "request">): boolean {
  const row = decodeRunSpec(request);
  return row.ok && row.value.work === "reconcile" && origin.id === EDIT_ORIGIN.id;
}

/**
 * R16: edits an idle thread's state as a run of its own, which writes the checkpoint under its lease and then records it in
 * the log. Returns that run, with the checkpoint written; `undefined` where nothing would change. If the instance dies, the one
 * that claims the run records it.
 */
export async function editState(
  deps: Pick<DriverDeps, "state" | "registry" | "clock" | "lease">,
  thread: ThreadAddress,
  edit: StateEdit,
): Promise<LeasedRun | undefined> {
  const { state, registry, clock, lease } = deps;
  const address = { graphId: thread.graphId, threadId: thread.ref.threadId };
  const seen = requireEditable(await state.getState(address), edit.checkpointId);
  const changed = Object.entries(edit.values).filter(
    ([name, value]) => !isDeepStrictEqual(value, seen.state[name]),
  );
  if (changed.length === 0) return undefined;
  const before = await lastStatus(registry, thread);
  const runId = newRunId(clock);
  const request = systemRunSpec("reconcile", thread, `edit_state:${runId}`);
  const started = await registry.start({
    ...lease,
    thread: thread.ref,
    stateKey: thread.stateKey,
    runId,
    graphId: thread.graphId,
    origin: EDIT_ORIGIN,
    start: { kind: "resume", answers: {} },
    request: encodeRunSpec({ ...request, person: edit.person }),
    strategy: "reject",
    listing: { threadName: thread.threadName, derivedTitle: undefined },
  });
  if (started.kind !== "started") {
    requireAccepted(started);
    throw changedSince();
  }
  try {
    requireEditable(await state.getState(address), seen.checkpointId);
    const update = {
      state: Object.fromEntries(changed),
      ...(edit.asNode !== undefined && { asNode: edit.asNode }),
    };
    await state.updateState(address, update, started.fence);
    return started;
  } catch (error) {
    // Not in the log, and the thread is listed as before. Where this fails too, the lease runs out, and the run that is claimed
    // records the thread's status.
    await registry.finish(started.fence, { status: before }).catch(() => {});
    throw error;
  }
}

/** The status of the thread's last run. */
async function lastStatus(
  registry: Pick<RunRegistry, "list">,
  { ref }: ThreadAddress,
): Promise<Finish["status"]> {
  const [last] = await registry.list(ref, 1);
  return last === undefined || last.status === "queued" || last.status === "running"
    ? "success"
    : last.status;
}

/** The checkpoint, if it is the one that was seen and has no open interrupt. */
function requireEditable(
  checkpoint: GraphCheckpoint | undefined,
  seenId: string | undefined,
): GraphCheckpoint {
  if (!checkpoint)
    throw new ThroughlineError("not_found", "There is no such thread, or it has no state yet.");
  if (seenId !== undefined && checkpoint.checkpointId !== seenId) throw changedSince();
  if (checkpoint.interrupts.length === 0) return checkpoint;
  throw new ThroughlineError(
    "interrupt_pending",
    "This thread waits for an answer. Answer it first, or set it aside with a message.",
    { details: { interruptIds: checkpoint.interrupts.map(({ interrupt_id }) => interrupt_id) } },
  );
}

function changedSince(): ThroughlineError {
  return new ThroughlineError("conflict", "The state has changed since. Read it again, then edit it.", {
    details: { field: "checkpointId" },
  });
}
