import type { Profile } from "@throughline/ai-core";
import type { CallSite, DraftOf, EnvelopeDraft } from "./envelope-draft.js";

/** A call's first window is short, so that a reply starts quickly; the following ones widen, to reduce the cost. */
export const MIN_WINDOW_MS = 25;
export const MAX_WINDOW_MS = 75;
const WIDENING_MS = 25;

type Token = DraftOf<"llm_token">;
type Update = DraftOf<"tool_update">;

interface Window {
  /** The deadline for emitting the waiting drafts. */
  readonly due: number;
  readonly width: number;
  waiting: EnvelopeDraft[];
}

/** Backpressure at the source (R9), before the log, so that every subscriber gets the same entries. */
export interface EventSampler {
  /** Returns the drafts that may be logged now, in order. O(1) per draft. */
  push(drafts: readonly EnvelopeDraft[], now: number): EnvelopeDraft[];
  /** Adds text to a message's waiting drafts. `false`, and no change, where the text can't wait or any draft is due. */
  extend(site: CallSite, messageId: string, text: string, now: number): boolean;
  /** Returns the drafts that are due. */
  flush(now: number): EnvelopeDraft[];
  /** Returns all waiting drafts. */
  drain(): EnvelopeDraft[];
  nextFlushAt(): number | undefined;
}

export function createEventSampler(profile: Profile, maxWindowMs = MAX_WINDOW_MS): EventSampler {
  if (profile === "debug")
    return {
      push: (drafts) => [...drafts],
      extend: () => false,
      flush: () => [],
      drain: () => [],
      nextFlushAt: () => undefined,
    };
  const widest = Math.min(MAX_WINDOW_MS, Math.max(MIN_WINDOW_MS, maxWindowMs));
  /** Windows by call, in the order of their first waiting draft. */
  const windows = new Map<string, Window>();

  function open(callId: string, now: number, last: Window | undefined): void {
    const width = last ? Math.min(widest, last.width + WIDENING_MS) : MIN_WINDOW_MS;
    windows.set(callId, { due: now + width, width, waiting: [] });
  }

  /** `true` when the draft was added to an open window. */
  function absorb(draft: Token | Update, now: number): boolean {
    const window = windows.get(draft.call_id);
    if (!window || (window.due <= now && window.waiting.length === 0)) {
      // The first token, or the first after a silence, passes at once; the window after it gathers the following ones.
      open(draft.call_id, now, window);
      return false;
    }
    const last = window.waiting[window.waiting.length - 1];
    if (!last || !merge(last, draft)) window.waiting.push(own(draft));
    return true;
  }

  function releaseDue(now: number, out: EnvelopeDraft[]): void {
    for (const [callId, window] of windows) {
      if (window.due > now || window.waiting.length === 0) continue;
      out.push(...window.waiting);
      open(callId, now, window);
    }
  }

  function releaseAll(out: EnvelopeDraft[]): void {
    for (const window of windows.values()) {
      if (window.waiting.length === 0) continue;
      out.push(...window.waiting);
      window.waiting = [];
    }
  }

  return {
    push(drafts, now) {
      const out: EnvelopeDraft[] = [];
      if (windows.size > 0) releaseDue(now, out);
      if (drafts.length === 0) return out;
      for (const draft of drafts) {
        if (draft.type === "llm_token" || draft.type === "tool_update") {
          if (!absorb(draft, now)) out.push(draft);
          continue;
        }
        // A start or an end never overtakes content, nor waits for it.
        releaseAll(out);
        if (draft.type === "llm_end" || draft.type === "tool_end") windows.delete(draft.call_id);
        out.push(draft);
      }
      return out;
    },
    extend(site, messageId, text, now) {
      for (const window of windows.values()) if (window.due <= now) return false;
      const waiting = windows.get(site.callId)?.waiting;
      if (!waiting) return false;
      const last = waiting[waiting.length - 1];
      if (last?.type === "llm_token" && last.payload.text !== undefined) {
        last.payload.text += text;
        addLogprob(last.payload, undefined);
      } else waiting.push(textOf(site, messageId, text));
      return true;
    },
    flush(now) {
      const out: EnvelopeDraft[] = [];
      releaseDue(now, out);
      return out;
    },
    drain() {
      const out: EnvelopeDraft[] = [];
      releaseAll(out);
      windows.clear();
      return out;
    },
    nextFlushAt() {
      let next: number | undefined;
      for (const window of windows.values()) {
        if (window.waiting.length > 0 && (next === undefined || window.due < next)) next = window.due;
      }
      return next;
    },
  };
}

function textOf({ callId, parentId, agent }: CallSite, messageId: string, text: string): Token {
  return {
    type: "llm_token",
    payload: { message_id: messageId, text },
    call_id: callId,
    parent_id: parentId,
    agent,
  };
}

/** Copies a draft before it waits: a waiting draft is mutated in place as more arrives, so no other code may hold it. */
function own(draft: Token | Update): Token | Update {
  return draft.type === "llm_token"
    ? {
        ...draft,
        payload: {
          ...draft.payload,
          ...(draft.payload.tool_call && { tool_call: { ...draft.payload.tool_call } }),
        },
      }
    : { ...draft, payload: { ...draft.payload } };
}

/** Adds the log probability of a merged token; unknown for the whole where one of the two has none. */
function addLogprob(into: Token["payload"], logprob: number | undefined): void {
  if (into.logprob === undefined) return;
  if (logprob === undefined) delete into.logprob;
  else into.logprob += logprob;
}

/** Merges `next` into `waiting`, where no text is lost and the order is retained. `false`, and no change, elsewhere. */
function merge(waiting: EnvelopeDraft, next: Token | Update): boolean {
  if (waiting.type === "tool_update" && next.type === "tool_update") {
    waiting.payload.data = next.payload.data;
    return true;
  }
  if (waiting.type !== "llm_token" || next.type !== "llm_token") return false;
  const into = waiting.payload;
  const { text, reasoning, tool_call } = next.payload;
  if (into.text !== undefined && text !== undefined) {
    into.text += text;
    addLogprob(into, next.payload.logprob);
  } else if (into.reasoning !== undefined && reasoning !== undefined) into.reasoning += reasoning;
  else if (
    into.tool_call &&
    tool_call &&
    tool_call.id === undefined &&
    into.tool_call.index === tool_call.index
  ) {
    into.tool_call.args = (into.tool_call.args ?? "") + (tool_call.args ?? "");
  } else return false;
  return true;
}
