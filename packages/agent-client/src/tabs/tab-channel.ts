import type { ShownInput } from "../client/thread-controller.js";
import type { PendingCommands } from "../commands/agent-command-scheduler.js";
import type { Command, CommandAck, CommandOutcome } from "../commands/command.js";
import type { SchedulerState } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import type { ThreadView } from "../projection/thread-view.js";
import type { LogEntryText, ToolDeclaration } from "../transport/agent-service.js";
import type { SseText } from "../transport/event-stream.js";
import type { Channel, ChannelPort } from "./ports.js";

/** The channels between tabs: all to all, and the leader to one. */
export interface TabChannels {
  postToAll(message: LeaderMessage | FollowerMessage): void;
  postToTab(tab: string, message: LogMessage): void;
  /** Closes the channel to a tab that is gone. */
  forget(tab: string): void;
  close(): void;
}

export function createTabChannels(options: {
  readonly channels: ChannelPort;
  readonly scope: string;
  readonly tabId: string;
  readonly onMessage: (message: TabMessage) => void;
  readonly onLogMessage: (message: LogMessage) => void;
}): TabChannels {
  const { channels, scope } = options;
  let closed = false;
  // Only tabs of this client know the names.
  const all = channels.open(`${scope}:tabs`, (message) => {
    if (!closed)
      options.onMessage(typeof message === "string" ? readFramesMessage(message) : (message as TabMessage));
  });
  // Logs are long: they go to the tab that shows them and to no other.
  const own = channels.open(tabName(scope, options.tabId), (message) => {
    if (!closed) options.onLogMessage(message as LogMessage);
  });
  const toTabs = new Map<string, Channel>();
  return {
    postToAll: (message) =>
      all.post("kind" in message && message.kind === "frames" ? writeFrames(message) : message),
    postToTab(tab, message) {
      const to = toTabs.get(tab) ?? channels.open(tabName(scope, tab), () => {});
      toTabs.set(tab, to);
      to.post(message);
    },
    forget(tab) {
      toTabs.get(tab)?.close();
      toTabs.delete(tab);
    },
    close() {
      closed = true;
      for (const channel of [all, own, ...toTabs.values()]) channel.close();
    },
  };
}

/** The name of a tab's own channel, and of the lock that it holds while it is alive. */
export function tabName(scope: string, tab: string): string {
  return `${scope}:tab:${tab}`;
}

/** A thread's log that a tab shows. */
export interface WantedLog {
  readonly id: string;
  readonly key: string;
  /** The position up to which entries are held. */
  readonly cursor: string | undefined;
}

/** A thread's view in a follower tab, for a leader that does not know the thread. */
export interface OfferedThread {
  readonly key: string;
  readonly view: ThreadView;
  readonly cursor: string | undefined;
}

/** The needs of a tab in addition to its open pages. */
export interface Wants {
  /** Threads to poll. */
  readonly watched: readonly string[];
  readonly tools: readonly ToolDeclaration[];
}

interface LineState {
  readonly status: ConnectionStatus;
  readonly pending: PendingCommands;
}

/** Messages of the leader, each with its epoch. */
export type LeaderMessage = {
  readonly epoch: number;
} /** `isHidden`: a visible tab may have the lead instead. */ & (
  | { readonly kind: "leads"; readonly isHidden: boolean }
  /** The tab no longer leads. Commands under way go to the next leader: `to`, if that is named. */
  | {
      readonly kind: "yields";
      readonly to: string | undefined;
      readonly handed: Readonly<Record<string, SchedulerState>>;
    }
  /** Frames of a thread, as the received texts: plain text costs little to copy, and is parsed once in each tab. */
  | {
      readonly kind: "frames";
      readonly key: string;
      readonly seq: number;
      readonly texts: readonly SseText[];
    }
  | {
      readonly kind: "shown";
      readonly key: string;
      readonly seq: number;
      readonly input: Exclude<ShownInput, { kind: "frames" }>;
    }
  | ({ readonly kind: "state"; readonly key: string } & LineState)
  /** The whole thread, up to `seq`. */
  | ({
      readonly kind: "snapshot";
      readonly key: string;
      readonly seq: number;
      readonly view: ThreadView;
      readonly cursor: string | undefined;
      /** `false`: the leader has received nothing of the thread yet. */
      readonly isKnown: boolean;
    } & LineState)
  | { readonly kind: "settled"; readonly key: string; readonly id: string; readonly outcome: CommandOutcome }
);

type WithoutEpoch<Message> = Message extends LeaderMessage | LogMessage ? Omit<Message, "epoch"> : never;

/** A leader's message without its epoch, which is added on posting. */
export type LeaderWord = WithoutEpoch<LeaderMessage>;

/** A message about a log without its epoch. */
export type LogWord = WithoutEpoch<LogMessage>;

/** Messages of the leader to one tab, about a log that the tab shows. */
export type LogMessage = { readonly epoch: number; readonly id: string } & (
  | { readonly kind: "log-entries"; readonly entries: readonly LogEntryText[] }
  | { readonly kind: "log-status"; readonly status: ConnectionStatus }
);

/** A request of a tab to the leader, about one thread. */
export type ThreadRequest =
  | { readonly kind: "ask-snapshot" }
  | { readonly kind: "submit"; readonly command: Command }
  | { readonly kind: "discard"; readonly messageId: string }
  | { readonly kind: "reconnect" }
  /** The ack of a command that this tab sent while it was the leader. */
  | { readonly kind: "answered"; readonly id: string; readonly answer: CommandAck };

/** Messages of followers to the leader, without their sender. */
export type FollowerWord =
  | {
      readonly kind: "ask-leader";
      readonly open: readonly string[];
      readonly wants: Wants;
      readonly logs: readonly WantedLog[];
      /** To a leader that is new. */
      readonly offers: readonly OfferedThread[];
    }
  | { readonly kind: "claim" }
  | { readonly kind: "leaves" }
  | ({ readonly key: string } & ThreadRequest);

export type FollowerMessage = { readonly from: string } & FollowerWord;

export type TabMessage = LeaderMessage | FollowerMessage;

type FramesMessage = Extract<LeaderMessage, { kind: "frames" }>;

/** A separator that neither JSON nor an event's id contains. */
const SEPARATOR = "\0";

/** Serializes frames to one string, which a browser copies faster than any other value that can be posted. */
export function writeFrames({ epoch, key, seq, texts }: FramesMessage): string {
  return [epoch, key, seq, ...texts.flatMap(({ id = "", data }) => [id, data])].join(SEPARATOR);
}

export function readFramesMessage(text: string): FramesMessage {
  const [epoch, key = "", seq, ...rest] = text.split(SEPARATOR);
  const texts = [];
  for (let at = 0; at < rest.length; at += 2)
    texts.push({ id: rest[at] || undefined, data: rest[at + 1] ?? "" });
  return { kind: "frames", epoch: Number(epoch), key, seq: Number(seq), texts };
}
