import type { UpstreamChunk } from "@throughline/ai-core";
import type { GraphProvider } from "@throughline/graph-executor";

export interface FreezingProvider extends GraphProvider {
  /** Settles when a first attempt stands still; `false` when it ended before it could. */
  readonly frozen: Promise<boolean>;
}

/** First attempts stop for good after so many chunks, as those of a process that hangs; later ones run through. */
export function freezingProvider(inner: GraphProvider, chunks: number): FreezingProvider {
  let freeze = (_isFrozen: boolean) => {};
  const frozen = new Promise<boolean>((resolve) => {
    freeze = resolve;
  });

  async function* upTo(
    stream: AsyncIterable<UpstreamChunk>,
    signal: AbortSignal,
  ): AsyncGenerator<UpstreamChunk> {
    let seen = 0;
    for await (const chunk of stream) {
      if (seen === chunks) {
        freeze(true);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return;
      }
      seen += 1;
      yield chunk;
    }
    freeze(false);
  }

  return {
    ...inner,
    frozen,
    runGraph(request) {
      const result = inner.runGraph(request);
      return request.attempt > 0 ? result : { ...result, stream: upTo(result.stream, request.signal) };
    },
  };
}
