import type { Envelope, EnvelopeOf, LogEntry } from "@throughline/ai-core";

type Token = EnvelopeOf<"llm_token">["payload"];

/** In characters of one entry: a frame must not grow without bound. */
const MAX_MERGED = 65_536;

/**
 * Merges adjacent entries that add up: pieces of one message's text, of its reasoning and of a tool call's arguments, and
 * progress updates of one call, of which the last one is retained. The merged entry has the last one's seq, time and count.
 * Only adjacent ones, so that the projection after every remaining entry is unchanged: a reader of one of them can continue
 * from it. Pure, O(entries).
 */
export function compactEntries(entries: readonly LogEntry[]): LogEntry[] {
  const compacted: LogEntry[] = [];
  for (const entry of entries) {
    const before = compacted.at(-1);
    const envelope = before?.epoch === entry.epoch ? merge(before.envelope, entry.envelope) : undefined;
    if (envelope) compacted[compacted.length - 1] = { ...entry, envelope };
    else compacted.push(entry);
  }
  return compacted;
}

function merge(first: Envelope, second: Envelope): Envelope | undefined {
  if (!isSameCall(first, second)) return undefined;
  const merged = (first.merged ?? 1) + (second.merged ?? 1);
  if (first.type === "tool_update" && second.type === "tool_update") {
    return first.payload.tool_name === second.payload.tool_name ? { ...second, merged } : undefined;
  }
  if (first.type !== "llm_token" || second.type !== "llm_token") return undefined;
  const payload = mergeTokens(first.payload, second.payload);
  return payload && { ...second, merged, payload };
}

function isSameCall(first: Envelope, second: Envelope): boolean {
  return (
    first.call_id === second.call_id &&
    first.run_id === second.run_id &&
    first.attempt === second.attempt &&
    first.parent_id === second.parent_id &&
    first.trace_id === second.trace_id &&
    first.thread_id === second.thread_id &&
    first.agent === second.agent &&
    first.origin === second.origin
  );
}

/** Merges tokens of one kind only: reasoning and text must not become simultaneous. Probabilities of single tokens are lost. */
function mergeTokens(first: Token, second: Token): Token | undefined {
  const { message_id } = second;
  if (first.message_id !== message_id) return undefined;
  const text = joinOnly("text", first, second);
  if (text !== undefined) return { message_id, text };
  const reasoning = joinOnly("reasoning", first, second);
  if (reasoning !== undefined) return { message_id, reasoning };
  const args = joinArgs(first, second);
  return args && { message_id, tool_call: args };
}

const KINDS = ["text", "reasoning", "tool_call"] as const;

function hasOnly(kind: (typeof KINDS)[number], token: Token): boolean {
  return KINDS.every((each) => (token[each] !== undefined) === (each === kind));
}

function joinOnly(kind: "text" | "reasoning", first: Token, second: Token): string | undefined {
  if (!hasOnly(kind, first) || !hasOnly(kind, second)) return undefined;
  return within(`${first[kind]}${second[kind]}`);
}

/** Joins arguments. The piece that names a call stays separate: the projection ignores it for a known call, but not the rest. */
function joinArgs(first: Token, second: Token): Token["tool_call"] | undefined {
  const [a, b] = [first.tool_call, second.tool_call];
  if (!a || !b || !hasOnly("tool_call", first) || !hasOnly("tool_call", second)) return undefined;
  if (a.index !== b.index || a.id !== undefined || b.id !== undefined || a.name !== b.name) return undefined;
  const args = within(`${a.args ?? ""}${b.args ?? ""}`);
  return args === undefined ? undefined : { ...b, args };
}

function within(text: string): string | undefined {
  return text.length > MAX_MERGED ? undefined : text;
}
