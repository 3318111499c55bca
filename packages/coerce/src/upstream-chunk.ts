import type { UpstreamChunk } from "@throughline/ai-core";

const ROOT: readonly string[] = [];

/**
 * Reads the SSE events of one LangGraph stream. With subgraphs streamed, the event's name contains the namespace:
 * `messages|agent:<task>`, or `updates|writer:<task>|draft:<task>`. Consecutive tokens have the same name, which is parsed
 * once: their chunks then share mode and namespace.
 */
export function createServerEventReader(): (event: string, data: unknown) => UpstreamChunk {
  let last = "";
  let mode = "";
  let ns = ROOT;
  return (event, data) => {
    if (event !== last) {
      const [first = event, ...rest] = event.split("|");
      last = event;
      mode = first;
      ns = rest.length > 0 ? rest : ROOT;
    }
    return { ns, mode, data };
  };
}

/**
 * Reads an item of `graph.stream` in this process: `[ns, mode, payload]` with subgraphs, `[mode, payload]` without, and
 * `{ event, … }` objects from `streamEvents`. `undefined` for anything else.
 */
export function readGraphItem(item: unknown): UpstreamChunk | undefined {
  if (Array.isArray(item)) {
    const first: unknown = item[0];
    const second: unknown = item[1];
    if (item.length === 3 && Array.isArray(first) && typeof second === "string") {
      const isPath = first.every((segment) => typeof segment === "string");
      return {
        ns: isPath ? first : first.filter((segment) => typeof segment === "string"),
        mode: second,
        data: item[2],
      };
    }
    if (item.length === 2 && typeof first === "string") return { ns: ROOT, mode: first, data: second };
    return undefined;
  }
  if (typeof item === "object" && item !== null && "event" in item)
    return { ns: ROOT, mode: "events", data: item };
  return undefined;
}
