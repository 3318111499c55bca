import type { AiEvent, ExecutorType, LogEntry, LogPosition } from "@throughline/ai-core";
import {
  type AgUiFrame,
  createAgUiEncoder,
  createAiEventsEncoder,
  createUiMessageEncoder,
  encodeFrameCursor,
  type ThreadProjection,
  type UiMessageChunk,
  WHOLE_ENTRY,
} from "@throughline/reading";
import type { EncoderOptions } from "./stream-types.js";

/** An encoder whose frames are server-sent events. Pure, and as restartable as the encoder it wraps. */
export interface FrameEncoder {
  /** Names the options in cursors. */
  readonly key: string;
  /** Names the shared stream on this instance. */
  readonly shareKey: string;
  /** `false`: it reads entries alone, so nothing has to be folded for it. */
  readonly needsFold: boolean;
  /** `origin: replay` for entries from before the reader came, where the face shows it. */
  frames(before: ThreadProjection, entry: LogEntry, origin: "live" | "replay"): SseFrame[];
  /** R11; `undefined` for a client that holds nothing and is given the log from its beginning. */
  prelude(fold: ThreadProjection, at: LogPosition | undefined): SseFrame[] | undefined;
  /** R12: the frames for a client that holds frame `n` of this entry: those it needs again, then the rest of the entry. */
  resume(before: ThreadProjection, entry: LogEntry, n: number): SseFrame[];
}

export interface EncoderContext {
  readonly threadName: string;
  readonly executorType: ExecutorType;
  /** A link to an attachment of the thread. */
  readonly linkTo: (base: string, attachmentId: string) => string;
}

export function createFrameEncoder(options: EncoderOptions, about: EncoderContext): FrameEncoder {
  switch (options.kind) {
    case "ag-ui":
      return agUiFace(options, about);
    case "ui-messages":
      return uiMessagesFace(options, about);
    case "ai-events":
      return aiEventsFace(about.executorType);
    case "envelopes":
      return options.isUnnamed ? unnamedEnvelopesFace : envelopesFace;
  }
}

function agUiFace(options: Extract<EncoderOptions, { kind: "ag-ui" }>, about: EncoderContext): FrameEncoder {
  const { line, interrupts, calls = false, fileBaseUrl: base } = options;
  const fileUrl = base === undefined ? undefined : (id: string) => about.linkTo(base, id);
  const face = createAgUiEncoder({ threadName: about.threadName, line, interrupts, calls, fileUrl });
  const toFrame = ({ id, event }: AgUiFrame): SseFrame => ({
    ...(id !== undefined && { id }),
    data: JSON.stringify(event),
  });
  return {
    key: face.key,
    shareKey: base === undefined ? face.key : `${face.key} ${base}`,
    needsFold: true,
    frames: (before, entry) => face.frames(before, entry).map(toFrame),
    prelude: (fold, at) => face.fullSnapshot(fold, at).map(toFrame),
    resume(before, entry, n) {
      const { prelude, rest } = face.resume(before, entry, n);
      return [...prelude, ...rest].map(toFrame);
    },
  };
}

/** A client that reconnects still has the parts it had open, so nothing is sent twice. */
function uiMessagesFace(
  { fileBaseUrl: base }: Extract<EncoderOptions, { kind: "ui-messages" }>,
  about: EncoderContext,
): FrameEncoder {
  const key = "ui";
  const face = createUiMessageEncoder({
    fileUrl: base === undefined ? undefined : (id) => about.linkTo(base, id),
  });
  const toFrame = (chunk: UiMessageChunk, id: string): SseFrame => ({ id, data: JSON.stringify(chunk) });
  const frames = (before: ThreadProjection, entry: LogEntry): SseFrame[] =>
    face
      .chunks(before, entry)
      .map((chunk, n) =>
        toFrame(chunk, encodeFrameCursor({ epoch: entry.epoch, seq: entry.seq, n, face: key })),
      );
  return {
    key,
    shareKey: base === undefined ? key : `${key} ${base}`,
    needsFold: true,
    frames,
    prelude(fold, at) {
      const chunks = face.prelude(fold);
      const id = at && encodeFrameCursor({ ...at, n: WHOLE_ENTRY, face: key });
      return chunks.map((chunk, index) =>
        id !== undefined && index === chunks.length - 1
          ? toFrame(chunk, id)
          : { data: JSON.stringify(chunk) },
      );
    },
    resume: (before, entry, n) => frames(before, entry).slice(n + 1),
  };
}

function aiEventsFace(executorType: ExecutorType): FrameEncoder {
  const face = createAiEventsEncoder({ executorType });
  const key = "ai";
  const frames = (before: ThreadProjection, entry: LogEntry): SseFrame[] =>
    face.events(before, entry).map((event: AiEvent, n) => ({
      id: encodeFrameCursor({ epoch: entry.epoch, seq: entry.seq, n, face: key }),
      event: event.type,
      data: JSON.stringify(event),
    }));
  return {
    key,
    shareKey: key,
    needsFold: true,
    frames,
    // The run's beginning is no longer retained: while it is open its rest follows, which ends with the whole text.
    prelude: ({ run }) => (run?.open ? [] : [lostFrame]),
    resume: (before, entry, n) => frames(before, entry).slice(n + 1),
  };
}

const lostFrame: SseFrame = {
  event: "error",
  data: JSON.stringify({
    type: "error",
    ok: false,
    code: "gap",
    message: "What this run said is no longer kept. The thread still has it.",
  } satisfies AiEvent),
};

const ENVELOPES_KEY = "log";

const envelopesFace: FrameEncoder = {
  key: ENVELOPES_KEY,
  shareKey: ENVELOPES_KEY,
  needsFold: false,
  frames(_, { epoch, seq, envelope }, origin) {
    const sent = origin === "live" ? envelope : { ...envelope, origin };
    return [
      {
        id: encodeFrameCursor({ epoch, seq, n: 0, face: ENVELOPES_KEY }),
        event: envelope.type,
        data: JSON.stringify(sent),
      },
    ];
  },
  prelude: () => undefined,
  resume: () => [],
};

/** Cursors mean the same in both. */
const unnamedEnvelopesFace: FrameEncoder = {
  ...envelopesFace,
  shareKey: `${ENVELOPES_KEY} unnamed`,
  frames: (...about) => envelopesFace.frames(...about).map(({ event: _, ...frame }) => frame),
};
/** One server-sent event, before it is bytes. */
export interface SseFrame {
  readonly id?: string;
  readonly event?: string;
  /** JSON text: it holds no line end, so one `data:` line carries it. */
  readonly data: string;
}

/** Characters that end a field or a whole event, or make a browser drop an id. */
const UNSAFE = /[\r\n\0]/;

/** Encodes a frame; no other code knows the framing. A line end in a field would let a client write frames of its own. */
export function encodeSseFrame({ id, event, data }: SseFrame): Buffer {
  let text = "";
  if (event !== undefined) text += `event: ${oneLine("event", event)}\n`;
  if (id !== undefined) text += `id: ${oneLine("id", id)}\n`;
  return Buffer.from(`${text}data: ${oneLine("data", data)}\n\n`);
}

function oneLine(field: string, value: string): string {
  if (!UNSAFE.test(value)) return value;
  throw new RangeError(`SSE ${field} must be one line, got ${JSON.stringify(value.slice(0, 80))}.`);
}
