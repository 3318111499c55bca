import {
  type AttachmentOwner,
  type AttachmentPort,
  type Clock,
  type ContentPart,
  type FreshRunStart,
  type GraphExecutorPort,
  type GraphFinal,
  type GraphRunRequest,
  type GraphRunResult,
  type Message,
  retryStore,
  ThroughlineError,
  type UpstreamChunk,
} from "@throughline/ai-core";
import { loadAttachmentBlock, namedAttachment } from "@throughline/graph-executor";
import type { ThreadRef } from "@throughline/thread-log";
import type { AttachmentStore, OpenedFile } from "./attachment-store.js";
import type { AttachmentLimits } from "./media-types.js";
import type { GeneratedFiles } from "./receive-file.js";

/** Loads files for graphs, bounds their bytes in memory over all runs, and stores the files that graphs make. */
interface RunAttachments extends AttachmentPort {
  /** The thread's run is over: what it held is given back. */
  release(threadId: string): void;
}

export interface RunFilesDeps {
  readonly store: Pick<AttachmentStore, "open" | "heldBytes">;
  readonly limits: Pick<AttachmentLimits, "maxAttachmentBytesPerRun" | "maxAttachmentBytesInRuns">;
  readonly keeper: Pick<GeneratedFiles, "keep">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long a run waits for others to end before it fails. Default one minute. */
  readonly patienceMs?: number;
}

/** A run's share of memory, claimed before it holds anything: runs that each held a part and claimed more would deadlock. */
interface Share {
  readonly bytes: number;
  /** Sizes by id: a file that is read again counts once. */
  readonly held: Map<string, number>;
}

interface Waiting {
  readonly bytes: number;
  admit(): void;
}

const PATIENCE_MS = 60_000;

/** A thread has one run at a time, so its id names what the run holds. */
export function createRunFiles(deps: RunFilesDeps): RunAttachments {
  const { store, limits, clock, signal, patienceMs = PATIENCE_MS } = deps;
  const { maxAttachmentBytesPerRun: perRun, maxAttachmentBytesInRuns: inRuns } = limits;
  const shares = new Map<string, Promise<Share>>();
  const waiting = new Set<Waiting>();
  let claimed = 0;
  const retry = <Result>(work: () => Promise<Result>) => retryStore({ clock, signal }, work);

  // A share that is larger than the whole limit is granted alone.
  const isWithinLimit = (bytes: number) => claimed === 0 || claimed + bytes <= inRuns;

  async function claim(thread: ThreadRef): Promise<Share> {
    const bytes = Math.min(perRun, await retry(() => store.heldBytes(thread)));
    if (waiting.size === 0 && isWithinLimit(bytes)) claimed += bytes;
    else await untilAdmitted(bytes);
    return { bytes, held: new Map() };
  }

  function untilAdmitted(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked: Waiting = {
        bytes,
        admit() {
          waiting.delete(asked);
          timer.cancel();
          claimed += bytes;
          resolve();
        },
      };
      const timer = clock.schedule(patienceMs, () => {
        waiting.delete(asked);
        reject(busy(inRuns));
      });
      waiting.add(asked);
    });
  }

  function shareOf(thread: ThreadRef): Promise<Share> {
    const known = shares.get(thread.threadId) ?? claim(thread);
    shares.set(thread.threadId, known);
    return known;
  }

  return {
    async readAttachment(owner, id) {
      const thread = threadOf(owner);
      const share = await shareOf(thread);
      return retry(async () => {
        const opened = await store.open(thread, id);
        if (!opened) return undefined;
        const { bytes } = opened.attachment;
        const others = [...share.held].reduce((sum, [other, size]) => (other === id ? sum : sum + size), 0);
        if (others + bytes > perRun) return "too_large";
        share.held.set(id, bytes);
        return bytesOf(opened);
      });
    },
    storeFile: (owner, file) => deps.keeper.keep(threadOf(owner), file),
    release(threadId) {
      const share = shares.get(threadId);
      shares.delete(threadId);
      share?.then(
        ({ bytes }) => {
          claimed -= bytes;
          // In order: a large share that waits must not be passed by small ones for ever.
          for (const next of waiting) {
            if (!isWithinLimit(next.bytes)) return;
            next.admit();
          }
        },
        () => {},
      );
    },
  };
}

async function bytesOf({ attachment: { bytes }, read }: OpenedFile): Promise<Uint8Array> {
  const content = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for await (const chunk of read()) {
    content.set(chunk, filled);
    filled += chunk.byteLength;
  }
  return content.subarray(0, filled);
}

function threadOf({ caller: { billingAccountId: account, subject }, threadId }: AttachmentOwner): ThreadRef {
  return { account, ...(subject !== undefined && { subject }), threadId };
}

function busy(max: number): ThroughlineError {
  return new ThroughlineError(
    "rate_limited",
    `maxAttachmentBytesInRuns: the runs of this instance hold ${max} bytes of files already. Start the run again later.`,
    { details: { limit: "maxAttachmentBytesInRuns", max } },
  );
}

/**
 * A graph is given the files that its new messages name; what started, queued or logged the run saw their addresses only.
 * Files in a checkpoint of the thread are loaded by its saver: in this process they are loaded there, a LangGraph server
 * stores what it was given.
 */
export function withRunAttachments<Executor extends GraphExecutorPort>(
  executor: Executor,
  attachments: RunAttachments,
): Executor {
  function start(request: GraphRunRequest): GraphRunResult {
    if (!namesAny(request)) return executor.runGraph(request);
    return runLater(filledIn(request, attachments).then((filled) => executor.runGraph(filled)));
  }
  return {
    ...executor,
    runGraph(request) {
      const release = () => attachments.release(request.threadId);
      const result = start(request);
      // A run whose stream is never read comes to no end; its stop is the only signal.
      request.signal.addEventListener("abort", release, { once: true });
      void result.final
        .catch(() => {})
        .then(() => {
          request.signal.removeEventListener("abort", release);
          release();
        });
      return result;
    },
  };
}

function namesAny({ start }: GraphRunRequest): boolean {
  return messagesOf(start.kind === "continue" ? start.original : start).some(
    ({ content }) =>
      typeof content !== "string" && content.some((part) => namedAttachment(part) !== undefined),
  );
}

function messagesOf(start: FreshRunStart): readonly Message[] {
  return start.kind === "resume" ? [] : start.messages;
}

async function filledIn(request: GraphRunRequest, attachments: AttachmentPort): Promise<GraphRunRequest> {
  const { start } = request;

  async function fill<Start extends FreshRunStart>(fresh: Start): Promise<Start> {
    if (fresh.kind === "resume") return fresh;
    const messages: Message[] = [];
    // One file after the other, so that no more than one is held as bytes and as base64 at once.
    for (const message of messagesOf(fresh)) messages.push(await fillMessage(message, request, attachments));
    return { ...fresh, messages };
  }

  return {
    ...request,
    start: start.kind === "continue" ? { ...start, original: await fill(start.original) } : await fill(start),
  };
}

async function fillMessage(
  message: Message,
  owner: AttachmentOwner,
  attachments: AttachmentPort,
): Promise<Message> {
  const { content } = message;
  if (typeof content === "string") return message;
  const parts: ContentPart[] = [];
  for (const part of content) {
    const id = namedAttachment(part);
    parts.push(id === undefined ? part : await loadAttachmentBlock(part, id, owner, attachments));
  }
  return { ...message, content: parts };
}

/** A run that begins when its files are there. A file that can't be read fails the run as a graph that can't be opened does. */
function runLater(starting: Promise<GraphRunResult>): GraphRunResult {
  const started = starting.catch((error: unknown): GraphRunResult => {
    const failure =
      error instanceof ThroughlineError
        ? error
        : new ThroughlineError("internal", "An attachment could not be read.", { cause: error });
    return { stream: nothing(), final: Promise.resolve(failed(failure)) };
  });
  async function* stream(): AsyncGenerator<UpstreamChunk> {
    yield* (await started).stream;
  }
  return { stream: stream(), final: started.then(({ final }) => final) };
}

function failed(error: ThroughlineError): GraphFinal {
  return { ok: false, status: "error", error, interrupts: [] };
}

async function* nothing(): AsyncGenerator<never> {}
