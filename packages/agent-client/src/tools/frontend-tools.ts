import type { Json, JsonObject } from "@throughline/ai-core";
import type { ThreadLine } from "../client/thread-line.js";
import {
  currentMessages,
  type MessageView,
  type ThreadView,
  type ToolCallView,
} from "../projection/thread-view.js";
import type { ToolDeclaration } from "../service/service-port.js";
import type { LockPort } from "../tabs/ports.js";

/** A tool that runs in the page. It may take its time: a person may be the one who answers. */
export interface FrontendTool extends ToolDeclaration {
  run(args: Json, about: ToolCallFacts): Json | Promise<Json>;
}

export interface ToolCallFacts {
  readonly toolCallId: string;
  /** The tool was taken back, or the client closed: nobody waits any more. */
  readonly signal: AbortSignal;
}

export interface FrontendTools {
  declarations(): readonly ToolDeclaration[];
  declare(tool: FrontendTool): () => void;
  /** Runs what the thread waits for, unless another tab does. */
  look(key: string, line: ThreadLine): void;
  close(): void;
}

export function createFrontendTools(options: {
  readonly locks: LockPort | undefined;
  readonly scope: string;
  readonly onChange: () => void;
}): FrontendTools {
  const tools = new Map<string, { readonly tool: FrontendTool; readonly gone: AbortController }>();
  const closed = new AbortController();
  /** Messages whose calls are run here, or wait for another tab to run them. */
  const taken = new Set<string>();

  function callsOf(view: ThreadView): Waiting | undefined {
    const waiting = waitingCalls(view);
    const calls = waiting?.calls.filter(({ name }) => tools.has(name)) ?? [];
    return waiting && calls.length > 0 ? { message: waiting.message, calls } : undefined;
  }

  async function take(name: string, line: ThreadLine): Promise<void> {
    const waiting = callsOf(line.view());
    if (!waiting || closed.signal.aborted) return;
    const results = await Promise.all(waiting.calls.map(run));
    const messages = results.filter((result) => result !== undefined);
    if (messages.length === 0) return;
    // One id for one answer: sent twice, it is the same run.
    await line.submit({ kind: "run", id: name, input: { messages }, busy: { kind: "queue" } });
  }

  async function run({ id, name, args }: ToolCallView): Promise<MessageView | undefined> {
    const declared = tools.get(name);
    if (!declared) return undefined;
    const { signal } = declared.gone;
    const answer = { id: `${id}:result`, role: "tool", toolCallId: id } as const;
    try {
      const working = declared.tool.run(parseArgs(args), { toolCallId: id, signal });
      // Whoever waits for this tab to finish must not wait for a tool that nobody wants any more.
      const result = await Promise.race([working, untilAborted(signal)]);
      if (signal.aborted) return undefined;
      return { ...answer, content: typeof result === "string" ? result : JSON.stringify(result ?? null) };
    } catch (error) {
      if (signal.aborted) return undefined;
      return { ...answer, content: error instanceof Error ? error.message : String(error), failed: true };
    }
  }

  return {
    // Only what can be told: it goes to other tabs, too.
    declarations: () =>
      [...tools.values()].map(({ tool: { name, description, parameters } }) => ({
        name,
        description,
        parameters,
      })),
    declare(tool) {
      const own = { tool, gone: new AbortController() };
      tools.get(tool.name)?.gone.abort();
      tools.set(tool.name, own);
      options.onChange();
      return () => {
        own.gone.abort();
        if (tools.get(tool.name) !== own) return;
        tools.delete(tool.name);
        options.onChange();
      };
    },
    look(key, line) {
      if (tools.size === 0) return;
      const waiting = callsOf(line.view());
      if (!waiting) return;
      const name = `tools:${waiting.message.id}`;
      const lock = `${options.scope}:${key}:${name}`;
      if (taken.has(lock)) return;
      taken.add(lock);
      const { locks } = options;
      const done = locks
        ? locks.request(lock, { signal: closed.signal }, () => take(name, line))
        : take(name, line);
      void done.catch(() => {}).finally(() => taken.delete(lock));
    },
    close() {
      closed.abort();
      for (const { gone } of tools.values()) gone.abort();
      tools.clear();
    },
  };
}

interface Waiting {
  readonly message: MessageView;
  readonly calls: readonly ToolCallView[];
}

/** Calls of the newest message that nobody answered, once its run is over. A question to a person comes before them. */
function waitingCalls(view: ThreadView): Waiting | undefined {
  if (view.run?.status !== "success" || view.interrupts.length > 0) return undefined;
  const messages = currentMessages(view);
  const at = messages.findLastIndex(
    ({ role, subagentRunId }) => role !== "tool" && role !== "reasoning" && subagentRunId === undefined,
  );
  const message = messages[at];
  if (message?.role !== "assistant" || !message.toolCalls) return undefined;
  const answered = new Set(messages.slice(at).map(({ toolCallId }) => toolCallId));
  const calls = message.toolCalls.filter(({ id }) => !answered.has(id));
  return calls.length > 0 ? { message, calls } : undefined;
}

function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
}

function parseArgs(args: string): Json {
  if (args === "") return {} satisfies JsonObject;
  const parsed: Json = JSON.parse(args);
  return parsed;
}
