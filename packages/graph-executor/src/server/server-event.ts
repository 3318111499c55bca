import type { UpstreamChunk } from "@throughline/ai-core";

/** One SSE event of a run's stream, as the SDK gives it. */
export interface ServerEvent {
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

const ROOT: readonly string[] = [];

/**
 * With subgraphs streamed, the namespace stands in the event's name: `messages|agent:<task>`, or
 * `updates|writer:<task>|draft:<task>`.
 */
export function toChunk({ event, data }: ServerEvent): UpstreamChunk {
  const [mode = event, ...ns] = event.split("|");
  return { ns: ns.length > 0 ? ns : ROOT, mode, data };
}
