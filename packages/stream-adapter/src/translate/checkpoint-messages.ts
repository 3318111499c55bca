import type { Message, PayloadOf } from "@throughline/ai-core";
import { asRecord, type IncomingMessage, readMessage, toMessage, toToolCall } from "@throughline/coerce";
import type { CallSite, DraftBuffer, EnvelopeDraft } from "../envelope-draft.js";
import type { ModelMessages } from "./model-messages.js";
import type { ToolCalls } from "./tool-calls.js";

type Change = NonNullable<PayloadOf<"state_snapshot">["changed_messages"]>[number];

export interface CheckpointMessagesOptions {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  readonly shown: ShownMessages;
  readonly messages: ModelMessages;
  readonly tools: ToolCalls;
}

/** Emits, after each superstep, the messages of the root state that did not stream by themselves. */
export interface CheckpointMessages {
  /** Processes the root state's `messages`. Reads only changes since the last list; the rest is compared by reference or id. */
  values(list: unknown): void;
}

/**
 * Compares each root state's messages with the streamed ones. LangGraph streams neither messages of a `Command`, of a cached
 * node or given as plain objects, nor a node's human messages, removals and rewrites. The root's `values` follow each
 * superstep and hold them all, under their final ids.
 */
export function createCheckpointMessages(options: CheckpointMessagesOptions): CheckpointMessages {
  const { sink, root, shown, messages, tools } = options;
  let previous: readonly unknown[] = [];
  let changes: Change[] = [];

  function flush(): void {
    if (changes.length === 0) return;
    sink.emit("state_snapshot", root, { changed_messages: changes });
    changes = [];
  }

  function retract(ids: readonly string[], reason: "removed" | "replaced"): void {
    if (ids.length === 0) return;
    flush();
    sink.emit("retract", root, { message_ids: [...ids], call_ids: [], reason });
  }

  function change(after: string | null, raw: unknown): void {
    const message: Message | undefined = toMessage(raw);
    if (!message) return;
    changes.push({ after, message });
    shown.add(message.id);
    for (const { id, name, args } of message.tool_calls ?? []) tools.announce(id, name, args);
  }

  /** Emits a message at the conversation's end like one that a node returned whole. */
  function append(message: IncomingMessage, after: string | null, raw: unknown): void {
    flush();
    // Its usage was counted when the model sent it, under the id of that stream.
    messages.push({ ...message, usage: undefined }, {}, undefined, undefined, true);
    if (message.id !== undefined && !shown.has(message.id)) change(after, raw);
  }

  function show(message: IncomingMessage, raw: unknown, after: string | null, isLast: boolean): void {
    const id = message.id ?? "";
    if (message.type === "tool" && tools.isRequested(message.toolCallId)) {
      flush();
      tools.learn(message, undefined);
      if (shown.has(id)) return;
    }
    const isNew = messages.find(id) === undefined;
    if (message.type === "ai" && isLast && isNew) append(message, after, raw);
    else change(after, raw);
  }

  return {
    values(list) {
      if (!Array.isArray(list)) return;
      const from = commonPrefix(previous, list);
      const before = new Map(previous.slice(from).map((raw) => [idOf(raw), raw]));
      const added = list.slice(from);
      const stays = new Set(added.map(idOf));
      const gone = [...before.keys()].filter((id) => id !== undefined && !stays.has(id) && shown.has(id));
      retract(gone as string[], "removed");
      let after = lastId(list, from);
      const lastShown = added.findLastIndex((raw) => shown.has(idOf(raw) ?? ""));
      added.forEach((raw, index) => {
        const message = readMessage(raw);
        if (!message || message.id === undefined) return;
        const { id } = message;
        const streamed = messages.find(id);
        if (streamed?.isMuted) return;
        if (message.type === "ai")
          retract(
            messages.supersededBy(message).filter((other) => !stays.has(other)),
            "replaced",
          );
        if (!shown.has(id)) show(message, raw, after, index > lastShown);
        else if (before.has(id) ? !isUnchanged(before.get(id), raw) : messages.isRewritten(message))
          change(after, raw);
        messages.commit(id);
        if (shown.has(id)) after = id;
      });
      flush();
      previous = list.slice();
    },
  };
}

function commonPrefix(previous: readonly unknown[], list: readonly unknown[]): number {
  let at = 0;
  while (at < list.length && at < previous.length && isUnchanged(previous[at], list[at])) at += 1;
  return at;
}

/** The id of the last message before this position. */
function lastId(list: readonly unknown[], from: number): string | null {
  for (let at = from - 1; at >= 0; at -= 1) {
    const id = idOf(list[at]);
    if (id !== undefined) return id;
  }
  return null;
}

/** A message's own fields, also of one in LangChain's serialized form. */
function fieldsOf(raw: unknown) {
  const outer = asRecord(raw);
  return outer?.lc === 1 && outer.type === "constructor" ? asRecord(outer.kwargs) : outer;
}

function idOf(raw: unknown): string | undefined {
  const id = fieldsOf(raw)?.id;
  return typeof id === "string" ? id : undefined;
}

/** In process an unchanged message is the same object; from a server it is re-parsed each time. */
function isUnchanged(before: unknown, now: unknown): boolean {
  if (before === now) return true;
  const [a, b] = [fieldsOf(before), fieldsOf(now)];
  if (!a || !b || a.id !== b.id || typeof a.id !== "string") return false;
  return sameJson(a.content, b.content) && sameJson(callsOf(a.tool_calls), callsOf(b.tool_calls));
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === "string" || typeof b === "string") return false;
  return JSON.stringify(a) === JSON.stringify(b);
}

function callsOf(calls: unknown): unknown {
  return Array.isArray(calls) ? calls.map(toToolCall) : [];
}

/** Ids of the conversation's messages that subscribers have: those of the thread before the run, and those emitted by the run. */
interface ShownMessages {
  has(messageId: string): boolean;
  add(messageId: string): void;
}

/** Derives the shown messages from the emitted drafts, so that no translator has to report them. */
export function trackShownMessages(
  sink: DraftBuffer,
  wasShown: (messageId: string) => boolean,
): { readonly shown: ShownMessages; readonly sink: DraftBuffer } {
  /** The messages of this run; `false`: retracted. */
  const during = new Map<string, boolean>();
  const ofSubagents = new Set<string>();
  const shown: ShownMessages = {
    has: (id) => during.get(id) ?? wasShown(id),
    add: (id) => void during.set(id, true),
  };
  const tracked: DraftBuffer = {
    take: () => sink.take(),
    emit(type, site, payload) {
      sink.emit(type, site, payload);
      // As in the sink: the pairing of type and payload is checked at every call.
      note({ type, payload } as unknown as Noted);
    },
  };

  function note(draft: Noted): void {
    switch (draft.type) {
      case "run_start":
        for (const { id } of draft.payload.input.messages) shown.add(id);
        return;
      case "llm_start":
        if (draft.payload.subagent_id !== undefined) ofSubagents.add(draft.payload.message_id);
        return;
      case "llm_token": {
        const { message_id, text, part, tool_call } = draft.payload;
        const isListed = text !== undefined || part !== undefined || tool_call?.id !== undefined;
        if (isListed && !ofSubagents.has(message_id)) shown.add(message_id);
        return;
      }
      case "tool_end":
        if (draft.payload.kind === "tool" && draft.payload.message_id !== undefined)
          shown.add(draft.payload.message_id);
        return;
      case "retract":
        for (const id of draft.payload.message_ids) during.set(id, false);
        return;
      default:
    }
  }

  return { shown, sink: tracked };
}

type Noted = {
  [T in EnvelopeDraft["type"]]: Pick<Extract<EnvelopeDraft, { readonly type: T }>, "type" | "payload">;
}[EnvelopeDraft["type"]];
