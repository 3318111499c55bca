import type {
  AttachmentOwner,
  AttachmentPort,
  ContentPart,
  FreshRunStart,
  GraphExecutorPort,
  GraphFinal,
  GraphRunRequest,
  GraphRunResult,
  Message,
  UpstreamChunk,
} from "@throughline/ai-core";
import { ThroughlineError } from "@throughline/ai-core";
import { namedAttachment, withBytes } from "@throughline/graph-executor";
import type { RunFiles } from "./run-files.js";

/**
 * A graph is given the files that its new messages name; what started, queued or logged the run saw their addresses only.
 * What a checkpoint of the thread holds is up to the saver that loads it: in this process it is filled in there, a LangGraph server
 * stores what it was given.
 */
export function materialiseAttachments<Executor extends GraphExecutorPort>(
  executor: Executor,
  attachments: RunFiles,
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
      // A run whose stream is never read comes to no end; that it was stopped is all there is to hear of it.
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
    parts.push(id === undefined ? part : await withBytes(part, id, owner, attachments));
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
