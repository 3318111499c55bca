import { type ChannelPort, type LockPort, pageChannels, pageLocks } from "./ports.js";
import { createTabs, type Tabs, type TabsOptions } from "./tabs.js";

export interface TabSharingOptions extends Omit<TabsOptions, "locks" | "channels"> {
  readonly locks: LockPort | undefined;
  readonly channels: ChannelPort | undefined;
}

/**
 * One connection for all tabs of a browser. `undefined` where tabs can't share, as in old browsers and on insecure origins: then
 * each has its own, and telemetry is told.
 */
export function shareTabs(options: TabSharingOptions): Tabs | undefined {
  const locks = options.locks ?? pageLocks();
  const channels = options.channels ?? pageChannels();
  if (locks && channels) return createTabs({ ...options, locks, channels });
  options.telemetry.unshared?.();
  return undefined;
}
