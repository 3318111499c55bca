import type { RunStatus } from "@throughline/ai-core";

/**
 * `log_unavailable`: nothing could be written for so long that another instance had better try. `failed`: something broke
 * that a later attempt may find mended.
 */
export type LeaveReason = "lost_lease" | "handed_over" | "log_unavailable" | "failed";

export type ReplayKind = "prelude" | "resume" | "run" | "replay";

/** What metrics and logs are made of. Called synchronously from hot paths: an observer must be quick and never throw. */
export interface ServiceObserver {
  runStarted(run: { readonly runId: string; readonly graphId: string; readonly attempt: number }): void;
  runEnded(run: {
    readonly runId: string;
    readonly graphId: string;
    readonly status: RunStatus | "lost";
  }): void;
  /** This instance no longer drives the run, and did not end it. */
  runLeft(run: { readonly runId: string; readonly graphId: string; readonly why: LeaveReason }): void;
  startRefused(kind: "busy" | "conflict" | "interrupt_pending"): void;
  takenOver(run: { readonly runId: string; readonly graphId: string; readonly attempt: number }): void;
  appendRefused(reason: "fenced" | "deleted"): void;
  entriesAppended(count: number): void;
  watcherJoined(how: ReplayKind): void;
  watcherLeft(): void;
  /** R3: a cursor could not be served. */
  gap(): void;
  /** Something failed that nobody waits for. `message` is fixed text; the error itself may hold anything. */
  failed(message: string, error: unknown): void;
}

export const silentObserver: ServiceObserver = {
  runStarted() {},
  runEnded() {},
  runLeft() {},
  startRefused() {},
  takenOver() {},
  appendRefused() {},
  entriesAppended() {},
  watcherJoined() {},
  watcherLeft() {},
  gap() {},
  failed() {},
};
