import type { CommandOutcome } from "../commands/command.js";

/** What happened on the connection, for the page to count. Every hook is optional and must not throw. */
export interface Telemetry {
  /** The service had another run for a command. */
  readonly busy?: (about: { readonly commandId: string; readonly runId: string | undefined }) => void;
  /** A command was sent again: the thread was not free, or whether it had arrived was not known. */
  readonly replayed?: (about: { readonly commandId: string }) => void;
  /** Frames of a stream that had lost its right to write. */
  readonly staleDropped?: (count: number) => void;
  readonly duplicateDropped?: (count: number) => void;
  readonly commandSettled?: (about: {
    readonly commandId: string;
    readonly kind: string;
    readonly outcome: CommandOutcome["kind"];
    readonly ms: number;
  }) => void;
  readonly reconnecting?: (about: { readonly attempt: number; readonly waitMs: number }) => void;
  /** What was missed could not be told frame by frame; a snapshot stands in. */
  readonly gap?: () => void;
  /** A frame did not fit what was shown; everything is asked for anew. */
  readonly misfit?: (type: string) => void;
  /** Tabs can't share here, because the browser has no Web Locks or no BroadcastChannel: each has its own stream. */
  readonly unshared?: () => void;
}
