import { type Clock, ThroughlineError } from "@throughline/ai-core";
import { bodySource } from "./bodies.js";
import type { RouteContext } from "./request.js";

/** Time after which a transfer without progress fails: a stalled transfer would hold its permit. */
const STALL_MS = 30_000;

/** Reads the request's body on demand. Throws `invalid_input` if it breaks off or stalls. */
export async function* requestBytes(c: RouteContext, clock: Clock): AsyncGenerator<Uint8Array> {
  const body = bodySource(c.req.raw, c.env?.incoming) ?? none();
  const iterator: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let isWaiting = false;

  async function next(): Promise<IteratorResult<Uint8Array>> {
    const stalled = createTimeout(clock);
    isWaiting = true;
    try {
      const result = await Promise.race([iterator.next(), stalled.over]);
      isWaiting = false;
      return result;
    } catch (error) {
      if (error instanceof ThroughlineError) throw error;
      isWaiting = false;
      throw new ThroughlineError("invalid_input", "body: ended before it was complete", {
        details: { field: "body" },
        cause: error,
      });
    } finally {
      stalled.cancel();
    }
  }

  try {
    for (let result = await next(); !result.done; result = await next()) yield result.value;
  } finally {
    // With a stalled sender, `return` would wait, too.
    if (!isWaiting) await iterator.return?.();
  }
}

interface Timeout {
  /** Rejects when the time is over. */
  readonly over: Promise<never>;
  cancel(): void;
}

function createTimeout(clock: Clock): Timeout {
  let cancel = () => {};
  const over = new Promise<never>((_, reject) => {
    const timer = clock.schedule(STALL_MS, () =>
      reject(
        new ThroughlineError("invalid_input", `body: nothing came for ${STALL_MS / 1_000} s; send it again`, {
          details: { field: "body" },
        }),
      ),
    );
    cancel = () => timer.cancel();
  });
  return { over, cancel: () => cancel() };
}

export interface SendOptions {
  readonly clock: Clock;
  /** Called once, however the transfer ends. */
  readonly onEnd: () => void;
}

/** A response body that reads the next chunk of its file when the last one is sent: a slow client slows the reading down. */
export function sendFile(
  c: RouteContext,
  content: AsyncIterable<Uint8Array>,
  { clock, onEnd }: SendOptions,
): ReadableStream<Uint8Array> {
  const iterator = content[Symbol.asyncIterator]();
  const outgoing = c.env?.outgoing;
  let hasEnded = false;

  function end(): void {
    if (hasEnded) return;
    hasEnded = true;
    timer.cancel();
    onEnd();
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
  function startTimer() {
    return clock.schedule(STALL_MS, () => {
      end();
      outgoing?.destroy();
    });
  }

  let timer = startTimer();
  // The reader may leave before a byte is read, and then nothing cancels the stream.
  outgoing?.once("close", end);
  if (outgoing?.destroyed) end();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        timer.cancel();
        if (hasEnded) return controller.error(new Error("The reader was too slow, or left."));
        try {
          const { done, value } = await iterator.next();
          if (done) {
            end();
            controller.close();
          } else {
            controller.enqueue(value);
            if (!hasEnded) timer = startTimer();
          }
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

async function* none(): AsyncGenerator<never> {}
/** Converts chunks to a body that reads the next chunk when the client has consumed the last one. */
export function toReadableStream(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}
