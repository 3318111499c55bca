import type { ShownInput } from "../client/thread-controller.js";
import type { PendingCommands } from "../commands/agent-command-scheduler.js";
import type { Answer, Command, CommandOutcome } from "../commands/command.js";
import type { Scheduler } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import type { ThreadView } from "../projection/thread-view.js";
import type { LogText, ToolDeclaration } from "../transport/agent-service.js";
import type { EventText } from "../transport/event-stream.js";
import type { Channel, ChannelPort } from "./ports.js";

/** What tabs say to each other: all to all, and the leader to one. */
export interface TabChannels {
  tellAll(message: LeaderMessage | FollowerMessage): void;
  tellTab(tab: string, message: LogMessage): void;
  /** The tab is gone. */
  forget(tab: string): void;
  close(): void;
}

export function createTabChannels(options: {
  readonly channels: ChannelPort;
  readonly scope: string;
  readonly tabId: string;
  readonly hear: (message: TabMessage) => void;
  readonly hearOfLog: (message: LogMessage) => void;
}): TabChannels {
  const { channels, scope } = options;
  let closed = false;
  // Only this client's own tabs know the names.
  const all = channels.open(`${scope}:tabs`, (message) => {
    if (!closed)
      options.hear(typeof message === "string" ? readFramesMessage(message) : (message as TabMessage));
  });
  // Logs are long: they go to the tab that shows them and to no other.
  const own = channels.open(tabName(scope, options.tabId), (message) => {
    if (!closed) options.hearOfLog(message as LogMessage);
  });
  const toTabs = new Map<string, Channel>();
  return {
    tellAll: (message) =>
      all.post("kind" in message && message.kind === "frames" ? writeFrames(message) : message),
    tellTab(tab, message) {
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

/** Of a tab's own channel, and of the lock it holds for as long as it lives. */
export function tabName(scope: string, tab: string): string {
  return `${scope}:tab:${tab}`;
}

/** A thread's log that a tab shows. */
export interface WantedLog {
  readonly id: string;
  readonly key: string;
  /** All up to there is held. */
  readonly cursor: string | undefined;
}

/** How a thread stands on a page, for a leader that does not know it. */
export interface OfferedThread {
  readonly key: string;
  readonly view: ThreadView;
  readonly cursor: string | undefined;
}

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
export type LeaderMessage = {
  readonly epoch: number;
} /** `isHidden`: a visible tab may have the lead instead. */ & (
  | { readonly kind: "leads"; readonly isHidden: boolean }
  /** It leads no more. Commands under way go to whichever tab is next: `to`, if that is named. */
  | {
      readonly kind: "yields";
      readonly to: string | undefined;
      readonly handed: Readonly<Record<string, Scheduler>>;
    }
  /** What it showed. Frames go as the text they came as: what is plain text costs little to copy, and is read once in each tab. */
  | {
      readonly kind: "frames";
      readonly key: string;
      readonly seq: number;
      readonly texts: readonly EventText[];
    }
  | {
      readonly kind: "shown";
      readonly key: string;
      readonly seq: number;
      readonly input: Exclude<ShownInput, { kind: "frames" }>;
    }
  | ({ readonly kind: "state"; readonly key: string } & LineState)
  /** All there is, up to `seq`. */
  | ({
      readonly kind: "snapshot";
      readonly key: string;
      readonly seq: number;
      readonly view: ThreadView;
      readonly cursor: string | undefined;
      /** `false`: it was not told anything of the thread yet. */
      readonly isKnown: boolean;
    } & LineState)
  | { readonly kind: "settled"; readonly key: string; readonly id: string; readonly outcome: CommandOutcome }
);

type WithoutEpoch<Message> = Message extends LeaderMessage | LogMessage ? Omit<Message, "epoch"> : never;

/** A leader's word without its epoch, which is added when it is posted. */
export type LeaderWord = WithoutEpoch<LeaderMessage>;

/** A word about a log without its epoch. */
export type LogWord = WithoutEpoch<LogMessage>;

/** Words of the leader to one tab, of a log that it shows. */
export type LogMessage = { readonly epoch: number; readonly id: string } & (
  | { readonly kind: "log-entries"; readonly entries: readonly LogText[] }
  | { readonly kind: "log-status"; readonly status: ConnectionStatus }
);

/** What a tab asks of the leader for a thread. */
export type ThreadWish =
  | { readonly kind: "ask-snapshot" }
  | { readonly kind: "submit"; readonly command: Command }
  | { readonly kind: "discard"; readonly messageId: string }
  | { readonly kind: "reconnect" }
  /** The service's answer to what this tab sent while it led. */
  | { readonly kind: "answered"; readonly id: string; readonly answer: Answer };

/** Words of the others to it, without the tab that says them. */
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
  | ({ readonly key: string } & ThreadWish);

export type FollowerMessage = { readonly from: string } & FollowerWord;

export type TabMessage = LeaderMessage | FollowerMessage;

type FramesMessage = Extract<LeaderMessage, { kind: "frames" }>;

/** Neither JSON nor an event's id holds it. */
const SEPARATOR = "\0";

/** One text for all: of all that can be posted, a browser copies that the fastest. */
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
