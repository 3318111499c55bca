import type { ErrorClass, Json, OwnError, PayloadOf, ThroughlineError } from "@throughline/ai-core";
import { classifyError, isJsonObject, readString, toPlain } from "@throughline/coerce";
import type { CallSite, DraftBuffer } from "../envelope-draft.js";
import type { FailedTask, TaskTree } from "./task-tree.js";

export interface RunFailureOptions {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  readonly tasks: Pick<TaskTree, "thrower">;
  /** Whether to emit a graph's own error, which may carry a key, a prompt or a path. */
  readonly showErrors: boolean;
}

/** Emits a run's failure: the error, the task that threw it, and the message that people see. */
export interface RunFailure {
  /** Stores the upstream's report that the run failed. The cause and the task are known once it has ended. */
  noteError(error: unknown): void;
  /** Emits a tool's failure to subscribers. The model gets it in a tool message. */
  tool(toolName: string, callId: string, error: unknown): void;
  /** Emits the run's failure, if it failed, and returns the failed task. `error`: the error that ended the run. */
  report(error: ThroughlineError | undefined, hasFailed: boolean): FailedTask | undefined;
  /** The error in the run's end. */
  ending(error: ThroughlineError | undefined): NonNullable<PayloadOf<"run_end">["error"]>;
}

const FAILED = "The graph failed while it ran.";
/** The longest message, in characters: a message may hold a whole page. */
const MAX_MESSAGE = 2_000;
/** The longest stack, in characters: the frames next to the throw, and not those of LangGraph's loop below them. */
const MAX_STACK = 4_000;

export function createRunFailure(options: RunFailureOptions): RunFailure {
  const { sink, root, tasks, showErrors } = options;
  let upstreamError: unknown;
  let failed: FailedTask | undefined;

  function emit(
    site: CallSite,
    error: unknown,
    about: { readonly class: ErrorClass; readonly safe: string; readonly failed?: FailedTask | undefined },
  ): void {
    const own = showErrors ? ownErrorOf(error) : undefined;
    sink.emit("error", site, {
      name: own?.name ?? "Error",
      message: own?.message ?? about.safe,
      class: about.class,
      node: about.failed?.task.node ?? null,
      ...(about.failed && { ns: about.failed.task.path.split("|") }),
      ...(own?.stack !== undefined && { stack: own.stack }),
    });
  }

  return {
    noteError(error) {
      upstreamError = error;
    },
    tool(toolName, callId, error) {
      const site = { callId, parentId: root.callId, agent: root.agent };
      emit(site, error, { class: "tool", safe: `The tool ${toolName} failed.` });
    },
    report(error, hasFailed) {
      if (!hasFailed && upstreamError === undefined) return undefined;
      const cause = upstreamError ?? error?.cause ?? error;
      const taskId = readString(cause, "pregelTaskId") ?? readString(error, "pregelTaskId");
      // A run that we ended ourselves was aborted in the middle of its nodes: none of them threw.
      const isOwn = error !== undefined && error.code !== "run_failed" && taskId === undefined;
      const task = isOwn || !hasFailed ? undefined : tasks.thrower(taskId);
      const kind = classifyError(isOwn ? error : cause, { inNode: task !== undefined });
      failed = task && { task, class: kind };
      emit(task?.site ?? root, cause, { class: kind, safe: error?.message ?? FAILED, failed });
      return failed;
    },
    ending(error) {
      const cause = upstreamError ?? error?.cause;
      const own =
        showErrors && (error === undefined || error.code === "run_failed") ? ownErrorOf(cause) : undefined;
      const { node, site, path } = failed?.task ?? {};
      const where = node === undefined ? "" : ` in node \`${node}\``;
      const who = nameOf(site?.agent ?? root.agent);
      return {
        code: error?.code ?? "run_failed",
        message: own ? `${who} failed${where}: ${own.name}: ${own.message}` : (error?.message ?? FAILED),
        class: failed?.class ?? classifyError(error ?? cause, { inNode: false }),
        node: node ?? null,
        ...(path !== undefined && { ns: path.split("|") }),
        ...(own && { own }),
      };
    },
  };
}

/** The graph's name without the provider's prefix. */
function nameOf(agent: string): string {
  return agent.slice(agent.indexOf(":") + 1);
}

/**
 * Reads an error's own name, message and stack. A LangGraph server sends no stack. Graphs also throw values that are no
 * errors: those become JSON. `undefined` when nothing is known of it.
 */
function ownErrorOf(error: unknown): OwnError | undefined {
  if (error === undefined || error === null) return undefined;
  const text = typeof error === "string" ? error : readString(error, "message");
  const message = text ?? JSON.stringify(withoutTask(toPlain(error)));
  const fallback = text === undefined ? "Thrown value" : "Error";
  const name = readString(error, "name") ?? readString(error, "error") ?? fallback;
  const stack = readString(error, "stack");
  return {
    name,
    message: shortened(message, MAX_MESSAGE),
    ...(stack !== undefined && { stack: shortened(stack, MAX_STACK) }),
  };
}

/** Removes the task id that LangGraph adds to every value that a node throws. */
function withoutTask(thrown: Json): Json {
  if (!isJsonObject(thrown)) return thrown;
  const { pregelTaskId: _, ...own } = thrown;
  return own;
}

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
