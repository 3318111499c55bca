import type { JsonObject } from "@throughline/ai-core";
import type { AgUiLine, InterruptForm } from "@throughline/stream-adapter";
import type { ThreadAddress } from "./thread-address.js";

/** Which reading of the log a watcher wants. Watchers with equal options share one encoded stream (R8). */
export type FaceOptions =
  /** AG-UI events as SSE `data`; every frame that may be come back to has an `id`. */
  | {
      readonly kind: "ag-ui";
      readonly line: AgUiLine;
      readonly interrupts: InterruptForm;
      /** Also the tree of runs, nodes, model and tool calls. Default `false`. */
      readonly calls?: boolean;
    }
  /** AiEvents: the SSE `event` is the AiEvent's type. */
  | { readonly kind: "ai-events" }
  /** Log entries: the SSE `event` is the envelope's type. What was there when the reader came has `origin: replay`. */
  | { readonly kind: "envelopes" };

/** Where a watcher begins. */
export type WatchFrom =
  /** It holds nothing: R11's full prelude, at the hub's position. Envelopes: all that the log still has. */
  | { readonly kind: "nothing" }
  /**
   * It holds everything up to this cursor (`Last-Event-ID`, `lastSeenEventId`), in whatever spelling it came: R12's resume.
   * One that is unreadable, of other options, of another epoch or too old is answered as `nothing`, never with a guess.
   */
  | { readonly kind: "cursor"; readonly cursor: string }
  /**
   * It asked for this run (`started`, `queued`, `attached` or `cancelled`): the run's own frames from its beginning, waited
   * for while it is queued, and nothing of other runs. Where `holds` shows that the watcher knows less than the thread did
   * when the run began, R11's prelude stands in for the run's first frame, so that later deltas fit.
   */
  | {
      readonly kind: "run";
      readonly runId: string;
      readonly holds?: { readonly messageIds: readonly string[]; readonly state: JsonObject };
    };

export interface WatchOptions {
  readonly face: FaceOptions;
  readonly from: WatchFrom;
  /**
   * `false`: ends with the run that is open, with the run asked for, or after the prelude when the thread is idle.
   * `true`: stays over any number of runs.
   */
  readonly follow: boolean;
}

/** Why nothing follows. `done`: all that was asked for was written. `failed`: the cause was logged; the watcher may return. */
export type WatchEndReason = "done" | "deleted" | "shutting_down" | "failed";

export interface WatchEnd {
  readonly reason: WatchEndReason;
  /** AG-UI: a RUN_STARTED was written whose terminal was not. Never with `done`. */
  readonly runOpen: boolean;
}

/** Where a watcher's bytes go. Nothing is called after `end`, or after the watch was left. */
export interface WatchSink {
  /**
   * Whole SSE frames, in order. The Buffers are shared by all watchers: never change them. `false`: enough for now. While
   * the watcher is caught up from the log the hub then waits for `drained`; live frames never wait, so a sink that lags too
   * far leaves, and its reader comes back with a cursor.
   */
  write(frames: readonly Buffer[]): boolean;
  /** Resolves when more may be written, and when it never will be. Called only after `write` gave `false`. */
  drained(): Promise<void>;
  end(end: WatchEnd): void;
}

export interface Watch {
  /** The reader is gone. Idempotent; `end` is not called. */
  leave(): void;
}

/**
 * One fold per thread and one encoded stream per face, shared by all who watch on this instance; closed when the last one
 * leaves. It reads the log and nothing else (R2), and never waits for a watcher.
 */
export interface ThreadHub {
  /**
   * Returns at once; bytes follow. Connecting to an idle thread first reconciles it with its checkpoint (R6). A thread that
   * does not exist is an empty one.
   */
  watch(thread: ThreadAddress, options: WatchOptions, sink: WatchSink): Watch;
  /** How many watch now, on this instance. */
  watchers(): number;
  /** Ends every watch with `shutting_down`. */
  close(): Promise<void>;
}
