import type { CallStatus, Json } from "@throughline/ai-core";
import {
  type IncomingMessage,
  read,
  readArray,
  readMessage,
  readString,
  toPlain,
  toResultContent,
} from "@throughline/coerce";
import type { CallSite, DraftBuffer } from "../envelope-draft.js";
import type { RunningTool, Task } from "./task-tree.js";

/** The most results that wait; the graph itself holds as many until its superstep ends. */
const MAX_PENDING_RESULTS = 2_000;

interface TrackedCall {
  readonly id: string;
  name: string;
  args: string;
  /** Its arguments, once it runs. */
  given: Json;
  site: CallSite | undefined;
  task: Task | undefined;
  subagentName: string | undefined;
  /** The subagent that made the call. */
  subagentId: string | undefined;
  /** Ends the message with the call. */
  endMessage: (() => void) | undefined;
  ended: boolean;
  /** The tool has returned, but the graph has not yet named the message that will carry the result. */
  pending: { readonly result: Json; readonly status: CallStatus } | undefined;
}

export interface ToolCallsOptions {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  /** Messages the thread held before this run: a result among them was emitted before. */
  readonly isKnown: (messageId: string) => boolean;
  /** The arguments of a tool call of an earlier run; `undefined` for a call the thread does not hold. */
  readonly knownArgs: (toolCallId: string) => string | undefined;
}

export interface ToolCalls {
  /** Records a model's call. Its message ends, by `endMessage`, before the call runs: providers may send no end. */
  announce(id: string, name: string, args: string, endMessage?: () => void): void;
  appendArgs(id: string, args: string): void;
  /** Whether a model made this call, in this run or before. */
  isRequested(id: string | undefined): boolean;
  start(id: string | undefined, name: string, input: unknown, task: Task | undefined): string;
  /** Finds the call where the upstream names none: the first of this tool with these arguments that is not yet running. */
  match(name: string, input: unknown): string | undefined;
  update(id: string, data: unknown): void;
  finish(id: string, name: string, output: unknown, task: Task | undefined): void;
  /** Records that the tool threw. Most graphs turn that into a tool message, which then is the result. */
  fail(id: string, name: string, task: Task | undefined): void;
  /** Reads a tool message of the thread: it has the result's id, and is the result where no other chunk had it. */
  learn(message: IncomingMessage, task: Task | undefined): void;
  /** Searches a list of messages for results of unresolved calls, newest first. Free when every call is resolved. */
  learnFrom(messages: unknown): void;
  /**
   * Finds the call of this task that runs a new subgraph with this `input`. Nothing in the stream names it where several run
   * at once: it is the one whose arguments are in the input, and else the first that runs none yet.
   */
  running(
    task: Task,
    about: { readonly taken: readonly (string | undefined)[]; readonly input: unknown },
  ): RunningTool | undefined;
  endTask(task: Task, status: CallStatus): void;
  endAll(status: CallStatus): void;
}

export function createToolCalls({ sink, root, isKnown, knownArgs }: ToolCallsOptions): ToolCalls {
  const runs = new Map<string, TrackedCall>();
  const pending = new Set<TrackedCall>();
  /** Calls without a result. A node may resolve a call itself, without streaming: only the thread's messages have the result. */
  const unresolved = new Set<TrackedCall>();
  let warned = false;

  function runOf(id: string, name: string): TrackedCall {
    let run = runs.get(id);
    if (!run) {
      run = {
        id,
        name,
        args: knownArgs(id) ?? "",
        given: null,
        site: undefined,
        task: undefined,
        subagentName: undefined,
        subagentId: undefined,
        endMessage: undefined,
        ended: false,
        pending: undefined,
      };
      runs.set(id, run);
      unresolved.add(run);
    }
    return run;
  }

  function begin(run: TrackedCall, input: unknown, task: Task | undefined): void {
    if (run.site) return;
    run.endMessage?.();
    run.task = task;
    run.site = {
      callId: run.id,
      parentId: task ? task.path : root.callId,
      agent: task ? task.site.agent : root.agent,
    };
    const args = input === undefined ? parseArgs(run.args) : parseArgs(input);
    run.given = args;
    run.subagentName = readString(args, "subagent_type");
    run.subagentId = task?.subagentId;
    sink.emit("tool_start", run.site, {
      tool_name: run.name,
      kind: "tool",
      node: task?.node ?? null,
      args,
      ...subagentOf(run),
    });
  }

  function complete(run: TrackedCall, result: Json, status: CallStatus, messageId: string | undefined): void {
    if (run.ended) return;
    run.ended = true;
    run.pending = undefined;
    pending.delete(run);
    unresolved.delete(run);
    sink.emit("tool_end", run.site ?? root, {
      tool_name: run.name,
      kind: "tool",
      result,
      status,
      ...(messageId !== undefined && { message_id: messageId }),
      ...subagentOf(run),
    });
  }

  function hold(run: TrackedCall, result: Json, status: CallStatus): void {
    run.pending = { result, status };
    pending.add(run);
    if (pending.size <= MAX_PENDING_RESULTS) return;
    if (!warned) {
      warned = true;
      sink.emit("warning", run.site ?? root, {
        code: "too_many_pending_results",
        message: `More than ${MAX_PENDING_RESULTS} tool results wait for their messages; older ones go out without.`,
      });
    }
    const [oldest] = pending;
    if (oldest?.pending) complete(oldest, oldest.pending.result, oldest.pending.status, undefined);
  }

  function learn(message: IncomingMessage, task: Task | undefined): void {
    if (message.toolCallId === undefined) return;
    // A subgraph that ends repeats all its messages, including those from before its interrupt or recovery.
    if (!runs.has(message.toolCallId) && message.id !== undefined && isKnown(message.id)) return;
    const run = runOf(message.toolCallId, message.name ?? "tool");
    if (run.ended) return;
    begin(run, undefined, task ?? run.task);
    const status: CallStatus = message.isError ? "error" : "ok";
    complete(run, toResultContent(message.content), status, message.id);
  }

  return {
    announce(id, name, args, endMessage) {
      const run = runOf(id, name);
      run.args = args;
      run.endMessage = endMessage;
    },
    appendArgs(id, args) {
      const run = runs.get(id);
      if (run) run.args += args;
    },
    isRequested: (id) => id !== undefined && (runs.has(id) || knownArgs(id) !== undefined),
    start(id, name, input, task) {
      const callId =
        id ?? `${task ? task.path : root.callId}/tool/${task ? ++task.toolCalls : runs.size + 1}`;
      const run = runOf(callId, name);
      run.name = name;
      begin(run, input, task);
      return callId;
    },
    match(name, input) {
      const wanted = JSON.stringify(parseArgs(input));
      let sameName: string | undefined;
      for (const run of runs.values()) {
        if (run.site || run.name !== name) continue;
        sameName ??= run.id;
        if (JSON.stringify(parseArgs(run.args)) === wanted) return run.id;
      }
      return sameName;
    },
    update(id, data) {
      const run = runs.get(id);
      if (run?.site && !run.ended)
        sink.emit("tool_update", run.site, { tool_name: run.name, data: toPlain(data) });
    },
    fail(id, name, task) {
      const run = runOf(id, name);
      begin(run, undefined, task);
      if (!run.ended) hold(run, null, "error");
    },
    finish(id, name, output, task) {
      const run = runOf(id, name);
      begin(run, undefined, task);
      if (run.ended) return;
      const message = resultMessage(output, id);
      if (message?.id !== undefined) return learn(message, task);
      const result = message ? toResultContent(message.content) : toPlain(output);
      const outcome = message?.isError ? "error" : "ok";
      // A tool that no model called has no result message to wait for.
      if (run.args === "" && !message) complete(run, result, outcome, undefined);
      else hold(run, result, outcome);
    },
    learn,
    learnFrom(messages) {
      if (unresolved.size === 0 || !Array.isArray(messages)) return;
      const found: [IncomingMessage, TrackedCall][] = [];
      for (let index = messages.length - 1; index >= 0 && found.length < unresolved.size; index -= 1) {
        const message = readMessage(messages[index]);
        const run =
          message?.type === "tool" && message.id !== undefined && runs.get(message.toolCallId ?? "");
        if (message && run && !run.ended) found.push([message, run]);
      }
      // Found from the newest back, emitted in the thread's own order.
      for (const [message, run] of found.reverse()) learn(message, run.task);
    },
    running(task, { taken, input }) {
      const begun = [...runs.values()].filter((run) => run.task === task && run.site);
      const underWay = begun.filter((run) => !run.ended && !run.pending);
      const free = underWay.filter(({ id }) => !taken.includes(id));
      const candidates = [...free, ...underWay.filter(({ id }) => taken.includes(id))];
      const run = candidates.length > 1 ? bestMatch(candidates, input) : candidates[0];
      return (
        run && { id: run.id, name: run.name, subagentName: run.subagentName, isAlone: begun.length === 1 }
      );
    },
    endTask(task, status) {
      if (status === "ok") return;
      for (const run of runs.values()) {
        if (run.task === task && run.site && !run.ended && !run.pending)
          complete(run, null, status, undefined);
      }
    },
    endAll(status) {
      for (const run of runs.values()) {
        if (run.pending) complete(run, run.pending.result, run.pending.status, undefined);
        else if (run.site) complete(run, null, status, undefined);
      }
    },
  };
}

function subagentOf({ subagentId }: TrackedCall): { subagent_id?: string } {
  return subagentId === undefined ? {} : { subagent_id: subagentId };
}

/** The call with the most text of its arguments in the input; the first of several. */
function bestMatch(candidates: readonly TrackedCall[], input: unknown): TrackedCall | undefined {
  const given = JSON.stringify(toPlain(input ?? null));
  let best = candidates[0];
  let most = 0;
  for (const run of candidates) {
    const found = textsOf(run.given).filter((text) => given.includes(JSON.stringify(text).slice(1, -1)));
    const length = found.reduce((sum, text) => sum + text.length, 0);
    if (length <= most) continue;
    most = length;
    best = run;
  }
  return best;
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** Finds the message in a tool's output, which may be a message, or a Command with one in its update. */
function resultMessage(output: unknown, toolCallId: string): IncomingMessage | undefined {
  const direct = readMessage(output);
  if (direct?.type === "tool") return direct;
  for (const raw of readArray(read(output, "update"), "messages")) {
    const message = readMessage(raw);
    if (message?.type === "tool" && (message.toolCallId === undefined || message.toolCallId === toolCallId)) {
      return { ...message, toolCallId };
    }
  }
  return undefined;
}

function parseArgs(input: unknown): Json {
  if (typeof input !== "string") return toPlain(input ?? {});
  if (input === "") return {};
  try {
    return toPlain(JSON.parse(input));
  } catch {
    return input;
  }
}
