import type { PendingCommands } from "../client/command-shell.js";
import type { ShownInput } from "../client/thread-line.js";
import type { Command, CommandOutcome } from "../commands/command.js";
import type { ConnectionStatus } from "../connection/connection.js";
import type { ThreadView } from "../projection/thread-view.js";
import type { ToolDeclaration } from "../service/service-port.js";

/** What a tab needs of its leader beside the pages it has open. */
export interface Wants {
  /** Threads to ask about now and then. */
  readonly watched: readonly string[];
  readonly tools: readonly ToolDeclaration[];
}

interface LineState {
  readonly status: ConnectionStatus;
  readonly pending: PendingCommands;
}

/** Words of the leader, each with its epoch. */
export type LeaderMessage = { readonly epoch: number } & (
  | { readonly kind: "leads" }
  | { readonly kind: "shown"; readonly key: string; readonly seq: number; readonly input: ShownInput }
  | ({ readonly kind: "state"; readonly key: string } & LineState)
  /** All there is, up to `seq`. */
  | ({
      readonly kind: "snapshot";
      readonly key: string;
      readonly seq: number;
      readonly view: ThreadView;
      readonly cursor: string | undefined;
    } & LineState)
  | { readonly kind: "settled"; readonly key: string; readonly id: string; readonly outcome: CommandOutcome }
);

/** Words of the others to it. */
export type FollowerMessage = { readonly from: string } & (
  | { readonly kind: "ask-leader"; readonly open: readonly string[]; readonly wants: Wants }
  | { readonly kind: "ask-snapshot"; readonly key: string }
  | { readonly kind: "submit"; readonly key: string; readonly command: Command }
  | { readonly kind: "discard"; readonly key: string; readonly messageId: string }
  | { readonly kind: "reconnect"; readonly key: string }
  | { readonly kind: "leaves" }
);

export type TabMessage = LeaderMessage | FollowerMessage;
