import { type ChannelPort, type LockPort, pageChannels, pageLocks } from "./ports.js";
import { createTabs, type Tabs, type TabsOptions } from "./tabs.js";

export interface TabSharingOptions extends Omit<TabsOptions, "locks" | "channels"> {
  readonly locks: LockPort | undefined;
  readonly channels: ChannelPort | undefined;
}

/** One connection for all tabs of a browser. `undefined` where tabs cannot share: then each has its own. */
export function shareTabs(options: TabSharingOptions): Tabs | undefined {
  const locks = options.locks ?? pageLocks();
  const channels = options.channels ?? pageChannels();
  return locks && channels && createTabs({ ...options, locks, channels });
}
