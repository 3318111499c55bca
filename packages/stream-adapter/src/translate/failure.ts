import type { ErrorClass, Json, OwnError, PayloadOf, ThroughlineError } from "@throughline/ai-core";
import { classifyError, isJsonObject, readString, toPlain } from "@throughline/coerce";
import type { CallSite, DraftSink } from "../envelope-draft.js";
import type { FailedTask, TaskTree } from "./task-tree.js";

export interface RunFailureOptions {
  readonly sink: DraftSink;
  readonly root: CallSite;
  readonly tasks: Pick<TaskTree, "thrower">;
  /** Tell a graph's own error, which may carry a key, a prompt or a path. */
  readonly showErrors: boolean;
}

/** How a run failed: what threw, where, and what people are told of it. */
export interface RunFailure {
  /** The upstream says that the run failed. Why and where is known once it has ended. */
  hear(error: unknown): void;
  /** A tool failed. The model is told by a tool message; this tells subscribers. */
  tool(toolName: string, callId: string, error: unknown): void;
  /** Tells the run's failure, if it failed, and says which task it was. `error`: how the run ended, if it failed. */
  report(error: ThroughlineError | undefined, hasFailed: boolean): FailedTask | undefined;
  /** What the run's end says. */
  ending(error: ThroughlineError | undefined): NonNullable<PayloadOf<"run_end">["error"]>;
}

const FAILED = "The graph failed while it ran.";
/** In characters: a message may hold a whole page. */
const MAX_MESSAGE = 2_000;
/** In characters: the frames next to the throw, and not the way through LangGraph's loop below them. */
const MAX_STACK = 4_000;

export function createRunFailure(options: RunFailureOptions): RunFailure {
  const { sink, root, tasks, showErrors } = options;
  let heard: unknown;
  let failed: FailedTask | undefined;

  function emit(
    site: CallSite,
    error: unknown,
    told: { readonly class: ErrorClass; readonly safe: string; readonly failed?: FailedTask | undefined },
  ): void {
    const own = showErrors ? ownWords(error) : undefined;
    sink.emit("error", site, {
      name: own?.name ?? "Error",
      message: own?.message ?? told.safe,
      class: told.class,
      node: told.failed?.task.node ?? null,
      ...(told.failed && { ns: told.failed.task.path.split("|") }),
      ...(own?.stack !== undefined && { stack: own.stack }),
    });
  }

  return {
    hear(error) {
      heard = error;
    },
    tool(toolName, callId, error) {
      const site = { callId, parentId: root.callId, agent: root.agent };
      emit(site, error, { class: "tool", safe: `The tool ${toolName} failed.` });
    },
    report(error, hasFailed) {
      if (!hasFailed && heard === undefined) return undefined;
      const cause = heard ?? error?.cause ?? error;
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
      const cause = heard ?? error?.cause;
      const own =
        showErrors && (error === undefined || error.code === "run_failed") ? ownWords(cause) : undefined;
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

/** A graph's id is its provider's name and its own. */
function nameOf(agent: string): string {
  return agent.slice(agent.indexOf(":") + 1);
}

/**
 * An error's own name, message and stack. A LangGraph server tells no stack. Graphs also throw what is no error: that is told as
 * JSON. `undefined` when nothing is known of it.
 */
function ownWords(error: unknown): OwnError | undefined {
  if (error === undefined || error === null) return undefined;
  const said = typeof error === "string" ? error : readString(error, "message");
  const message = said ?? JSON.stringify(withoutTask(toPlain(error)));
  const fallback = said === undefined ? "Thrown value" : "Error";
  const name = readString(error, "name") ?? readString(error, "error") ?? fallback;
  const stack = readString(error, "stack");
  return {
    name,
    message: shortened(message, MAX_MESSAGE),
    ...(stack !== undefined && { stack: shortened(stack, MAX_STACK) }),
  };
}

/** LangGraph notes on whatever a node throws which of its tasks that was. */
function withoutTask(thrown: Json): Json {
  if (!isJsonObject(thrown)) return thrown;
  const { pregelTaskId: _, ...own } = thrown;
  return own;
}

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
