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
import type { CallSite, DraftSink } from "../envelope-draft.js";
import type { RunningTool, Task } from "./task-tree.js";

/** The graph itself holds as many until its superstep ends. */
const MAX_PENDING_RESULTS = 2_000;

interface ToolRun {
  readonly id: string;
  name: string;
  args: string;
  /** What it was called with, once it runs. */
  given: Json;
  site: CallSite | undefined;
  task: Task | undefined;
  subagentName: string | undefined;
  /** The subagent whose call it is. */
  subagentId: string | undefined;
  /** Ends the message that asks for it. */
  endMessage: (() => void) | undefined;
  ended: boolean;
  /** The tool has returned, but the graph has not yet named the message that will carry the result. */
  pending: { readonly result: Json; readonly status: CallStatus } | undefined;
}

export interface ToolRunsOptions {
  readonly sink: DraftSink;
  readonly root: CallSite;
  /** Messages the thread held before this run: a result among them was told when it came. */
  readonly isKnown: (messageId: string) => boolean;
  /** The arguments of a call that an earlier run asked for; `undefined` for a call the thread does not hold. */
  readonly knownArgs: (toolCallId: string) => string | undefined;
}

export interface ToolRuns {
  /** A model asked for this call. Its message ends, by `endMessage`, before the call runs: providers may tell no end. */
  announce(id: string, name: string, args: string, endMessage?: () => void): void;
  appendArgs(id: string, args: string): void;
  /** A model asked for this call, in this run or before. */
  asked(id: string | undefined): boolean;
  start(id: string | undefined, name: string, input: unknown, task: Task | undefined): string;
  /** Where the upstream names no call: the first one a model asked for, of this tool with these arguments, not yet running. */
  match(name: string, input: unknown): string | undefined;
  update(id: string, data: unknown): void;
  finish(id: string, name: string, output: unknown, task: Task | undefined): void;
  /** The tool threw. Most graphs turn that into a tool message, which then is the result. */
  fail(id: string, name: string, task: Task | undefined): void;
  /** A tool message of the thread: it names the result's id, and is the result where nothing else told of it. */
  learn(message: IncomingMessage, task: Task | undefined): void;
  /** Looks for tool messages of unanswered calls in a list of messages, newest first. Free when every call is answered. */
  learnFrom(messages: unknown): void;
  /**
   * The call of this task that runs a new subgraph, which was given `input`. Nothing in the stream names it where several
   * run at once: it is the one whose arguments are in the input, and else the first that runs none yet.
   */
  running(
    task: Task,
    about: { readonly taken: readonly (string | undefined)[]; readonly input: unknown },
  ): RunningTool | undefined;
  endTask(task: Task, status: CallStatus): void;
  endAll(status: CallStatus): void;
}

export function createToolRuns({ sink, root, isKnown, knownArgs }: ToolRunsOptions): ToolRuns {
  const runs = new Map<string, ToolRun>();
  const pending = new Set<ToolRun>();
  /** A node may answer a call itself, without a tool and without streaming the answer: only the thread's messages tell. */
  const unanswered = new Set<ToolRun>();
  let warned = false;

  function runOf(id: string, name: string): ToolRun {
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
      unanswered.add(run);
    }
    return run;
  }

  function begin(run: ToolRun, input: unknown, task: Task | undefined): void {
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

  function complete(run: ToolRun, result: Json, status: CallStatus, messageId: string | undefined): void {
    if (run.ended) return;
    run.ended = true;
    run.pending = undefined;
    pending.delete(run);
    unanswered.delete(run);
    sink.emit("tool_end", run.site ?? root, {
      tool_name: run.name,
      kind: "tool",
      result,
      status,
      ...(messageId !== undefined && { message_id: messageId }),
      ...subagentOf(run),
    });
  }

  function hold(run: ToolRun, result: Json, status: CallStatus): void {
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
    // A subgraph that ends tells all it holds once more, also what it did before it asked or was taken up.
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
    asked: (id) => id !== undefined && (runs.has(id) || knownArgs(id) !== undefined),
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
      // A tool that no model asked for answers no message: there is none to wait for.
      if (run.args === "" && !message) complete(run, result, outcome, undefined);
      else hold(run, result, outcome);
    },
    learn,
    learnFrom(messages) {
      if (unanswered.size === 0 || !Array.isArray(messages)) return;
      const found: [IncomingMessage, ToolRun][] = [];
      for (let index = messages.length - 1; index >= 0 && found.length < unanswered.size; index -= 1) {
        const message = readMessage(messages[index]);
        const run =
          message?.type === "tool" && message.id !== undefined && runs.get(message.toolCallId ?? "");
        if (message && run && !run.ended) found.push([message, run]);
      }
      // Found from the newest back, told in the thread's own order.
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

function subagentOf({ subagentId }: ToolRun): { subagent_id?: string } {
  return subagentId === undefined ? {} : { subagent_id: subagentId };
}

/** The one of whose arguments most is in the input; the first of several. */
function bestMatch(candidates: readonly ToolRun[], input: unknown): ToolRun | undefined {
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

/** Tools may answer with a message, or with a Command that carries one in its update. */
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
