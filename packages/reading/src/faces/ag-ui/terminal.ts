import type { JsonObject, OwnError, PayloadOf } from "@throughline/ai-core";
import { standingStatus, type ThreadFold } from "../../fold/thread-fold.js";
import type { AgUiEvent, AgUiLine, AgUiOutcome, AgUiUsage, InterruptForm } from "./event.js";
import { announces, toAgUiInterrupt } from "./interrupts.js";

export interface TerminalOptions {
  readonly threadName: string;
  readonly line: AgUiLine;
  readonly interrupts: InterruptForm;
}

type RunError = NonNullable<PayloadOf<"run_end">["error"]>;

/** R13: the one event that ends a run, with the ids it began with. */
export function terminal(
  fold: ThreadFold,
  end: PayloadOf<"run_end">,
  options: TerminalOptions,
  more: JsonObject = {},
): AgUiEvent {
  const { threadName, line } = options;
  const { run, usage } = fold;
  const facts: JsonObject = { runId: run?.run_id ?? "", status: end.status, ...more };
  if (usage.model_calls > 0) facts.usage = { ...usage };
  // An error has no outcome to carry them.
  if (end.status === "error" && fold.interrupts.length > 0 && announces(options.interrupts).standard)
    facts.interrupts = fold.interrupts.map((open) => ({ ...toAgUiInterrupt(open) }));
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
  const outcome = outcomeOf(fold, end, options);
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
 * The end of what is told of a thread where nothing runs: how it stands. It is not how its last run ended, which a stock client
 * would take for a failure of its own request; who wants to show that finds it in metadata.
 */
export function standing(fold: ThreadFold, options: TerminalOptions): AgUiEvent {
  const { status, error } = fold.run ?? {};
  const hasFailed = status === "error" || status === "cancelled";
  const lastRun: JsonObject = { ...(status && { status }), ...(error && { error: toJson(error) }) };
  return terminal(fold, { status: standingStatus(fold) }, options, hasFailed ? { lastRun } : {});
}

function toJson(error: RunError): JsonObject {
  return { code: error.code, message: error.message, ...originOf(error) };
}

/** What failed, and where; in the graph's own words where the log has them. */
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
  fold: ThreadFold,
  end: PayloadOf<"run_end">,
  options: TerminalOptions,
): AgUiOutcome | undefined {
  const asks = end.status === "interrupted" || end.status === "cancelled";
  if (asks && announces(options.interrupts).standard && fold.interrupts.length > 0) {
    return { type: "interrupt", interrupts: fold.interrupts.map(toAgUiInterrupt) };
  }
  // 0.0.59 fails on an outcome it does not know, so there the status stands in metadata alone.
  if (end.status === "cancelled" && options.line === "1.0") return { type: "cancelled" };
  return undefined;
}

function toAgUiUsage(usage: ThreadFold["usage"]): AgUiUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
  };
}
