import type { Json, JsonObject, PatchOperation } from "@throughline/ai-core";
import type { AgUiEvent } from "@throughline/reading";
import { applyPatch } from "@throughline/reading";

interface SeenMessage {
  readonly id: string;
  readonly role: string;
  readonly owner: string | undefined;
  text: string;
  toolCalls: { id: string; name: string; args: string }[];
  toolCallId: string | undefined;
}

interface SeenCall {
  readonly runId: string;
  readonly callId: string;
  readonly parentId: string | null;
}

/** What a page shows that applies events as they come: a list is taken whole, everything else adds to what is there. */
export interface Watcher {
  take(events: readonly AgUiEvent[]): void;
  /** As plain values, to compare. */
  shown(): unknown;
}

/** How the run ended; who comes later is told how the thread stands, and beside that how its last run ended. */
function endOf(event: AgUiEvent): JsonObject {
  const { lastRun, status, code, class: kind, node } = (event.metadata?.throughline ?? {}) as JsonObject;
  if (lastRun) return lastRun as JsonObject;
  if (event.type !== "RUN_ERROR") return { status: status ?? null };
  const { ns } = (event.metadata?.throughline ?? {}) as JsonObject;
  const error = { code: code ?? null, message: event.message, class: kind ?? null, node: node ?? null };
  return { status: "error", error: { ...error, ...(ns && { ns }) } };
}

export function createWatcher(): Watcher {
  let messages: SeenMessage[] = [];
  let state: JsonObject = {};
  let calls = new Map<string, SeenCall>();
  let interrupts: Json = [];
  let run: Json = null;
  const steps = new Set<string>();
  const subagents = new Set<string>();
  const speaking = new Set<string>();
  const calling = new Set<string>();

  const byId = (id: string) => messages.find((message) => message.id === id);

  function place(id: string, role: string, owner: string | undefined): SeenMessage {
    const known = byId(id);
    if (known) return known;
    const message: SeenMessage = { id, role, owner, text: "", toolCalls: [], toolCallId: undefined };
    messages.push(message);
    return message;
  }

  function read(wire: JsonObject): SeenMessage {
    const { id, role, subagentRunId, content, toolCalls, toolCallId } = wire as unknown as {
      id: string;
      role: string;
      subagentRunId?: string;
      content?: Json;
      toolCalls?: { id: string; function: { name: string; arguments: string } }[];
      toolCallId?: string;
    };
    return {
      id,
      role,
      owner: subagentRunId,
      text: content === undefined || typeof content === "string" ? (content ?? "") : JSON.stringify(content),
      toolCalls: (toolCalls ?? []).map((call) => ({
        id: call.id,
        name: call.function.name,
        args: call.function.arguments,
      })),
      toolCallId,
    };
  }

  function callOf(id: string): { args: string } {
    const call = messages.flatMap(({ toolCalls }) => toolCalls).find((one) => one.id === id);
    if (!call) throw new Error(`no call ${id}`);
    return call;
  }

  function takeCalls(value: Json): void {
    const told = value as unknown as {
      whole: boolean;
      calls: readonly SeenCall[];
      gone?: readonly { runId: string; callId: string }[];
    };
    if (told.whole) calls = new Map();
    const gone = new Set((told.gone ?? []).map(({ runId, callId }) => `${runId} ${callId}`));
    for (const [key, { runId, parentId }] of calls) {
      if (gone.has(`${runId} ${parentId}`)) gone.add(key);
      if (gone.has(key)) calls.delete(key);
    }
    for (const call of told.calls) calls.set(`${call.runId} ${call.callId}`, call);
  }

  function startRun(event: Extract<AgUiEvent, { type: "RUN_STARTED" }>): void {
    const isOwn = event.runId.startsWith("throughline:");
    const isSame = JSON.stringify(run) === JSON.stringify({ id: event.runId, status: "running" });
    if (!isOwn && !isSame) interrupts = [];
    run = { id: event.runId, status: "running" };
    for (const wire of (event.input?.messages as JsonObject[] | undefined) ?? []) {
      const message = read(wire);
      if (!byId(message.id)) messages.push(message);
    }
  }

  function apply(event: AgUiEvent): void {
    const owner = event.subagentRunId;
    switch (event.type) {
      case "RUN_STARTED":
        startRun(event);
        return;
      case "RUN_FINISHED":
        interrupts = event.outcome?.type === "interrupt" ? (event.outcome.interrupts as unknown as Json) : [];
        run = { id: event.runId, ...endOf(event) };
        return;
      case "RUN_ERROR":
        // What it did not answer is still open, and an error has no outcome to tell it.
        interrupts = ((event.metadata?.throughline ?? {}) as JsonObject).interrupts ?? [];
        run = { id: (run as { id: string } | null)?.id ?? "", ...endOf(event) };
        return;
      case "STEP_STARTED":
        steps.add(event.stepName);
        return;
      case "STEP_FINISHED":
        steps.delete(event.stepName);
        return;
      case "SUBAGENT_STARTED":
        subagents.add(event.subagentRunId);
        return;
      case "SUBAGENT_FINISHED":
      case "SUBAGENT_ERROR":
        subagents.delete(event.subagentRunId);
        return;
      case "TEXT_MESSAGE_START":
        place(event.messageId, "assistant", owner);
        speaking.add(event.messageId);
        return;
      case "REASONING_MESSAGE_START":
        place(event.messageId, "reasoning", owner);
        speaking.add(event.messageId);
        return;
      case "TEXT_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_CONTENT": {
        if (!speaking.has(event.messageId)) throw new Error(`${event.messageId} is not open`);
        place(event.messageId, "assistant", owner).text += event.delta;
        return;
      }
      case "TEXT_MESSAGE_END":
      case "REASONING_MESSAGE_END":
        speaking.delete(event.messageId);
        return;
      case "TOOL_CALL_START": {
        const message = place(event.parentMessageId, "assistant", owner);
        if (!message.toolCalls.some(({ id }) => id === event.toolCallId))
          message.toolCalls.push({ id: event.toolCallId, name: event.toolCallName, args: "" });
        calling.add(event.toolCallId);
        return;
      }
      case "TOOL_CALL_ARGS":
        callOf(event.toolCallId).args += event.delta;
        return;
      case "TOOL_CALL_END":
        calling.delete(event.toolCallId);
        return;
      case "TOOL_CALL_RESULT": {
        if (byId(event.messageId)) return;
        let at = messages.findLastIndex(({ toolCalls }) =>
          toolCalls.some(({ id }) => id === event.toolCallId),
        );
        at = at < 0 ? messages.length : at + 1;
        while (messages[at]?.role === "tool") at += 1;
        const wire = {
          id: event.messageId,
          role: "tool",
          content: event.content,
          toolCallId: event.toolCallId,
        };
        messages.splice(at, 0, { ...read(wire), owner });
        return;
      }
      case "STATE_SNAPSHOT":
        state = event.snapshot;
        return;
      case "STATE_DELTA":
        state = applyPatch(state, event.delta as PatchOperation[]) ?? state;
        return;
      case "MESSAGES_SNAPSHOT":
        messages = event.messages.map(read);
        return;
      case "CUSTOM":
        if (event.name === "throughline.calls") takeCalls(event.value);
        return;
      default:
        return;
    }
  }

  return {
    take(events) {
      for (const event of structuredClone(events)) apply(event);
    },
    shown: () => ({
      conversation: messages.filter(({ role, owner }) => role !== "reasoning" && owner === undefined),
      // A subagent's words are shown with it, a thought beside the message it led to: neither has a place among the others.
      nested: messages
        .filter(({ role, owner }) => role !== "reasoning" && owner !== undefined)
        .sort((a, b) => ((a.owner ?? "") < (b.owner ?? "") ? -1 : a.owner === b.owner ? 0 : 1)),
      thoughts: messages
        .filter(({ role, text }) => role === "reasoning" && text !== "")
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
      state,
      calls: [...calls.values()],
      interrupts,
      run,
      steps: [...steps].sort(),
      subagents: [...subagents].sort(),
      speaking: [...speaking].sort(),
      calling: [...calling].sort(),
    }),
  };
}
