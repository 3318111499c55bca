import { readFramesMessage, writeFrames } from "./frames-text.js";
import type { Channel, ChannelPort } from "./ports.js";
import type { FollowerMessage, LeaderMessage, LogMessage, TabMessage } from "./tab-message.js";

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
