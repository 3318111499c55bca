import type { Json, JsonObject } from "@throughline/ai-core";
import type { ThreadController } from "../client/thread-controller.js";
import {
  currentMessages,
  type ThreadMessage,
  type ThreadView,
  type ToolCallView,
} from "../projection/thread-view.js";
import { type LockPort, pageLocks } from "../tabs/ports.js";
import type { ToolDeclaration } from "../transport/agent-service.js";

/** A tool that runs in the page. It may run for long: its result may be a person's input. */
export interface FrontendTool extends ToolDeclaration {
  run(args: Json, about: ToolCallFacts): Json | Promise<Json>;
}

export interface ToolCallFacts {
  readonly toolCallId: string;
  /** The tool was removed, or the client closed: its result is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface FrontendTools {
  declarations(): readonly ToolDeclaration[];
  declare(tool: FrontendTool): () => void;
  /** Runs the tool calls that the thread waits for, unless another tab does. */
  runPendingCalls(key: string, controller: ThreadController): void;
  close(): void;
}

export interface FrontendToolsOptions {
  readonly locks: LockPort | undefined;
  readonly scope: string;
  readonly onChange: () => void;
}

/** Runs tools in the page. */
export function frontendTools(options: FrontendToolsOptions): FrontendTools {
  const locks = options.locks ?? pageLocks();
  const tools = new Map<string, { readonly tool: FrontendTool; readonly gone: AbortController }>();
  const closed = new AbortController();
  /** Calls that are run here, or wait for another tab to run them. */
  const claimed = new Set<string>();

  function callsOf(view: ThreadView): readonly ToolCallView[] {
    return tools.size === 0 ? [] : waitingCalls(view).filter(({ name }) => tools.has(name));
  }

  /** Runs the calls and submits their results. `withdrawn`: every tool was removed while it ran. */
  async function runCalls(
    ids: readonly string[],
    controller: ThreadController,
  ): Promise<"withdrawn" | undefined> {
    const calls = callsOf(controller.view()).filter(({ id }) => ids.includes(id));
    if (calls.length === 0 || closed.signal.aborted) return undefined;
    const results = await Promise.all(calls.map(run));
    const messages = results.filter((result) => result !== undefined);
    if (messages.length === 0) return "withdrawn";
    // One id for one set of results: sent twice, it is the same run. Another tab's results for the same message are another run.
    const id = `tools:${messages.map(({ toolCallId }) => toolCallId).join()}`;
    await controller.submit({ kind: "run", id, input: { messages }, busy: { kind: "queue" } });
    return undefined;
  }

  function runPendingCalls(key: string, controller: ThreadController): void {
    const lockOf = (callId: string) => `${options.scope}:${key}:tool:${callId}`;
    const ids = callsOf(controller.view()).flatMap(({ id }) => (claimed.has(lockOf(id)) ? [] : [id]));
    if (ids.length === 0) return;
    const names = ids.map(lockOf);
    for (const name of names) claimed.add(name);
    let ended: "withdrawn" | undefined;
    const working = async () => {
      ended = await runCalls(ids, controller);
    };
    void locked(names, working)
      .catch(() => {})
      .finally(() => {
        for (const name of names) claimed.delete(name);
        // A tool that was declared again meanwhile was not run, because this call was still claimed.
        if (ended === "withdrawn") runPendingCalls(key, controller);
      });
  }

  /** Works while holding all locks. They are acquired in message order, so that two tabs never wait for each other. */
  function locked([name, ...rest]: readonly string[], work: () => Promise<void>): Promise<void> {
    if (name === undefined || !locks) return work();
    return locks.request(name, { signal: closed.signal }, () => locked(rest, work));
  }

  async function run({ id, name, args }: ToolCallView): Promise<ThreadMessage | undefined> {
    const declared = tools.get(name);
    if (!declared) return undefined;
    const { signal } = declared.gone;
    const message = { id: `${id}:result`, role: "tool", toolCallId: id } as const;
    try {
      const working = declared.tool.run(parseArgs(args), { toolCallId: id, signal });
      // Waiting for this tab to finish must not include a tool whose result is no longer wanted.
      const result = await Promise.race([working, untilAborted(signal)]);
      if (signal.aborted) return undefined;
      return { ...message, content: typeof result === "string" ? result : JSON.stringify(result ?? null) };
    } catch (error) {
      if (signal.aborted) return undefined;
      return { ...message, content: error instanceof Error ? error.message : String(error), failed: true };
    }
  }

  return {
    // Only serializable parts: they are posted to other tabs, too.
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
    runPendingCalls,
    close() {
      closed.abort();
      for (const { gone } of tools.values()) gone.abort();
      tools.clear();
    },
  };
}

/** The calls of the newest message that have no result, once its run is over. Open interrupts come before them. */
function waitingCalls(view: ThreadView): readonly ToolCallView[] {
  if (view.run?.status !== "success" || view.interrupts.length > 0) return [];
  const messages = currentMessages(view);
  const at = messages.findLastIndex(
    ({ role, subagentRunId }) => role !== "tool" && role !== "reasoning" && subagentRunId === undefined,
  );
  const message = messages[at];
  if (message?.role !== "assistant" || !message.toolCalls) return [];
  const answered = new Set(messages.slice(at).map(({ toolCallId }) => toolCallId));
  return message.toolCalls.filter(({ id }) => !answered.has(id));
}

function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
}

function parseArgs(args: string): Json {
  if (args === "") return {} satisfies JsonObject;
  const parsed: Json = JSON.parse(args);
  return parsed;
}
