import type { JsonObject, OwnError, PayloadOf } from "@throughline/ai-core";
import { idleStatus, type ThreadProjection } from "../../fold/thread-fold.js";
import type { AgUiEvent, AgUiOutcome, AgUiUsage, AgUiVersion, InterruptForm } from "./event.js";
import { announces, toAgUiInterrupt } from "./interrupts.js";

export interface TerminalOptions {
  readonly threadName: string;
  readonly line: AgUiVersion;
  readonly interrupts: InterruptForm;
}

type RunError = NonNullable<PayloadOf<"run_end">["error"]>;

/** R13: the one event that ends a run, with the ids of its start. */
export function terminal(
  projection: ThreadProjection,
  end: PayloadOf<"run_end">,
  options: TerminalOptions,
  more: JsonObject = {},
): AgUiEvent {
  const { threadName, line } = options;
  const { run, usage } = projection;
  const facts: JsonObject = { runId: run?.run_id ?? "", status: end.status, ...more };
  if (usage.model_calls > 0) facts.usage = { ...usage };
  // An error has no outcome to carry them.
  if (end.status === "error" && projection.interrupts.length > 0 && announces(options.interrupts).standard)
    facts.interrupts = projection.interrupts.map((open) => ({ ...toAgUiInterrupt(open) }));
  const metadata = { throughline: facts };
  if (end.status === "error") {
    const error: RunError = end.error ?? { code: "run_failed", message: "The run failed." };
    const { code, message } = error;
    return {
      type: "RUN_ERROR",
      message,
      code,
      metadata: { throughline: { ...facts, code, ...originOf(error) } },
    };
  }
  const outcome = outcomeOf(projection, end, options);
  return {
    type: "RUN_FINISHED",
    threadId: threadName,
    runId: run?.client_run_id ?? run?.run_id ?? "",
    ...(outcome && { outcome }),
    ...(line === "1.0" && usage.model_calls > 0 && { usage: [toAgUiUsage(usage)] }),
    metadata,
  };
}

/**
 * The event that ends the snapshot of an idle thread, with the thread's status. It does not repeat a failure of the last run,
 * which a stock client would take for a failure of its own request; metadata has that outcome for clients that show it.
 */
export function idleRunEnd(projection: ThreadProjection, options: TerminalOptions): AgUiEvent {
  const { status, error } = projection.run ?? {};
  const hasFailed = status === "error" || status === "cancelled";
  const lastRun: JsonObject = { ...(status && { status }), ...(error && { error: toJson(error) }) };
  return terminal(projection, { status: idleStatus(projection) }, options, hasFailed ? { lastRun } : {});
}

function toJson(error: RunError): JsonObject {
  return { code: error.code, message: error.message, ...originOf(error) };
}

/** The class and the origin of an error, and the graph's own error where the log has it. */
function originOf({ class: kind, node, ns, own }: RunError): JsonObject {
  return {
    ...(kind && { class: kind }),
    ...(node !== undefined && { node }),
    ...(ns && { ns }),
    ...(own && { own: ownOf(own) }),
  };
}

function ownOf({ name, message, stack }: OwnError): JsonObject {
  return { name, message, ...(stack !== undefined && { stack }) };
}

function outcomeOf(
  projection: ThreadProjection,
  end: PayloadOf<"run_end">,
  options: TerminalOptions,
): AgUiOutcome | undefined {
  const canAsk = end.status === "interrupted" || end.status === "cancelled";
  if (canAsk && announces(options.interrupts).standard && projection.interrupts.length > 0) {
    return { type: "interrupt", interrupts: projection.interrupts.map(toAgUiInterrupt) };
  }
  // 0.0.59 fails on an unknown outcome, so there only metadata has the status.
  if (end.status === "cancelled" && options.line === "1.0") return { type: "cancelled" };
  return undefined;
}

function toAgUiUsage(usage: ThreadProjection["usage"]): AgUiUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
  };
}
