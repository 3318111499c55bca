import type { JsonObject, LogPosition } from "@throughline/ai-core";
import type { AgUiVersion, InterruptForm, ThreadProjection } from "@throughline/reading";
import type { ThreadAddress } from "../threads/thread-address.js";

/** The encoder of the log that a subscriber requests. Subscribers with equal options share one encoded stream (R8). */
export type EncoderOptions =
  /** AG-UI events as SSE `data`; every frame from which a client may reconnect has an `id`. */
  | {
      readonly kind: "ag-ui";
      readonly line: AgUiVersion;
      readonly interrupts: InterruptForm;
      /** Also the tree of runs, nodes, model and tool calls. Default `false`. */
      readonly calls?: boolean;
      /** The service's URL as the client knows it: attachments are sent as links below it. Else by their own address. */
      readonly fileBaseUrl?: string | undefined;
    }
  /** The AI SDK's UI message stream: chunks of one assistant message as SSE `data`. */
  | {
      readonly kind: "ui-messages";
      /** As for AG-UI. */
      readonly fileBaseUrl?: string | undefined;
    }
  /** AiEvents: the SSE `event` is the AiEvent's type. */
  | { readonly kind: "ai-events" }
  /**
   * Log entries: the SSE `event` is the envelope's type, unless `isUnnamed` leaves it to the reader. Entries from
   * before the reader came have `origin: replay`.
   */
  | { readonly kind: "envelopes"; readonly isUnnamed?: true };

/** The point at which a subscriber's stream begins. */
export type SubscribeFrom =
  /** It holds nothing: R11's full prelude, at the hub's position. Envelopes: all that the log still has. */
  | { readonly kind: "nothing" }
  /**
   * It holds everything up to this cursor (`Last-Event-ID`, `lastSeenEventId`), in any of its spellings: R12's resume.
   * A cursor that is unreadable, of other options, of another epoch or too old is treated as `nothing`, never guessed.
   */
  | { readonly kind: "cursor"; readonly cursor: string }
  /**
   * It asked for this run (`started`, `queued`, `attached` or `cancelled`): the run's own frames from its beginning, waited
   * for while it is queued, and nothing of other runs. Where `holds` shows that the subscriber lacks part of the
   * thread at the run's beginning, R11's prelude replaces the run's first frame, so that later deltas fit.
   */
  | {
      readonly kind: "run";
      readonly runId: string;
      /** It was started or queued this moment: its row need not be reread. */
      readonly isNew?: boolean;
      readonly holds?: { readonly messageIds: readonly string[]; readonly state: JsonObject };
      /** It holds nothing that the run continues from: R11's prelude replaces the run's first frame. */
      readonly knowsNothing?: boolean;
    };

export interface SubscribeOptions {
  readonly face: EncoderOptions;
  readonly from: SubscribeFrom;
  /**
   * `false`: ends with the open run, with the requested run, or after the prelude when the thread is idle.
   * `true`: stays over any number of runs.
   */
  readonly follow: boolean;
}

/**
 * The reason why nothing follows. `done`: everything requested was written. `failed`: the cause was logged; the subscriber may
 * return.
 */
export type EndReason = "done" | "deleted" | "shutting_down" | "failed";

export interface SubscriptionEnd {
  readonly reason: EndReason;
  /** AG-UI: a RUN_STARTED was written whose terminal was not. Never with `done`. */
  readonly runOpen: boolean;
}

/** The destination of a subscriber's bytes. Nothing is called after `end`, or after the subscription was left. */
export interface FrameSink {
  /**
   * Whole SSE frames, in order. The Buffers are shared by all subscribers: never change them. `false`: enough for now. While
   * the subscriber is caught up from the log the hub then waits for `drained`; live frames never wait, so a sink that lags
   * too far leaves, and its reader reconnects from a cursor.
   */
  write(frames: readonly Buffer[]): boolean;
  /** Resolves when more may be written, and when it never will be. Called only after `write` gave `false`. */
  drained(): Promise<void>;
  end(end: SubscriptionEnd): void;
}

export interface Subscription {
  /** AG-UI: a RUN_STARTED was written whose terminal was not. */
  isRunOpen(): boolean;
  /** The reader is gone. Idempotent; `end` is not called. */
  leave(): void;
}

/** A thread at one moment. */
export interface ThreadReading {
  readonly fold: ThreadProjection;
  /** `undefined` when the thread has no log. */
  readonly position: LogPosition | undefined;
  /** The fold at the cursor that was given, where the log still has it. */
  readonly before: ThreadProjection | undefined;
}

/**
 * Encodes one stream per thread and face, shared by all subscribers of this instance. It reads the thread's view and the log
 * and nothing else (R2), and never waits for a subscriber. During an outage of a store, subscriptions stay open and continue
 * after it.
 */
export interface ThreadStreams {
  /**
   * Returns at once; bytes follow. Connecting to an idle thread first reconciles it with its checkpoint (R6). A thread that
   * does not exist is an empty one.
   */
  subscribe(thread: ThreadAddress, options: SubscribeOptions, sink: FrameSink): Subscription;
  /**
   * The thread's current projection, reconciled with its checkpoint like a subscription from nothing. Rejects with `StoreOutage`
   * when an outage lasts longer than a request may wait.
   */
  read(thread: ThreadAddress, cursor: string | undefined): Promise<ThreadReading>;
  /** The number of current subscribers on this instance. */
  subscribers(): number;
  /** Ends every subscription with `shutting_down`. */
  close(): Promise<void>;
}
