import type { UpstreamChunk } from "@throughline/ai-core";

const ROOT: readonly string[] = [];

/**
 * An SSE event of a LangGraph server. With subgraphs streamed, the namespace stands in the event's name:
 * `messages|agent:<uuid>` or `updates|writer:<uuid>|draft:<uuid>`.
 */
export function decodeServerEvent(event: string, data: unknown): UpstreamChunk {
  const bar = event.indexOf("|");
  if (bar === -1) return { ns: ROOT, mode: event, data };
  return { ns: event.slice(bar + 1).split("|"), mode: event.slice(0, bar), data };
}

/**
 * What `graph.stream` yields in this process: `[ns, mode, payload]` with subgraphs, `[mode, payload]` without, and
 * `{ event, … }` objects from `streamEvents`. Anything else is passed on under a mode nobody reads.
 */
export function decodeInProcess(item: unknown): UpstreamChunk {
  if (Array.isArray(item)) {
    const [first, second] = item;
    if (item.length === 3 && Array.isArray(first) && typeof second === "string") {
      return { ns: first.filter((segment) => typeof segment === "string"), mode: second, data: item[2] };
    }
    if (item.length === 2 && typeof first === "string") return { ns: ROOT, mode: first, data: second };
  }
  if (typeof item === "object" && item !== null && "event" in item)
    return { ns: ROOT, mode: "events", data: item };
  return { ns: ROOT, mode: "unknown", data: item };
}
