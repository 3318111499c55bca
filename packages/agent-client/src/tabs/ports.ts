/** The required subset of Web Locks. Rejects when the lock was stolen or the request was aborted. */
export interface LockPort {
  request(
    name: string,
    options: { readonly steal?: boolean; readonly signal?: AbortSignal },
    held: () => Promise<void>,
  ): Promise<void>;
}

/** One end of a broadcast channel between the tabs of a browser. It does not receive its own messages. */
export interface Channel {
  post(message: unknown): void;
  close(): void;
}

export interface ChannelPort {
  open(name: string, listener: (message: unknown) => void): Channel;
}

/** The browser's locks, where there are tabs to share with. */
export function pageLocks(): LockPort | undefined {
  if (typeof window === "undefined" || !navigator.locks) return undefined;
  const { locks } = navigator;
  return {
    // The standard does not allow a signal together with `steal`.
    async request(name, { steal, signal }, held) {
      await locks.request(name, steal ? { steal } : signal ? { signal } : {}, held);
    },
  };
}

export function pageChannels(): ChannelPort | undefined {
  if (typeof window === "undefined" || typeof BroadcastChannel === "undefined") return undefined;
  return {
    open(name, listener) {
      const channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }: MessageEvent<unknown>) => listener(data);
      return { post: (message) => channel.postMessage(message), close: () => channel.close() };
    },
  };
}
