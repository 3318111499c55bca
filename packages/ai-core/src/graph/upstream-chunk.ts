/**
 * One piece of a LangGraph stream, untranslated: namespace path, stream mode and whatever the graph sent. `data` is as
 * unknown as the graph that made it; only the stream adapter looks inside.
 */
export interface UpstreamChunk {
  readonly ns: readonly string[];
  readonly mode: string;
  readonly data: unknown;
  /** `replay` for what an upstream streams again to a reader that joins late. Default `live`. */
  readonly origin?: "live" | "replay";
}
