import type {
  AccountApi,
  ListedThread,
  RequestFailure,
  Store,
  ThreadPage,
  ThreadQuery,
} from "@throughline/agent-client";
import { useMemo, useSyncExternalStore } from "react";
import { useAccountFor } from "./providers.js";

export interface ThreadsOptions extends Omit<ThreadQuery, "after"> {
  /** How often the list is reloaded while the page is in view; 0: never. */
  readonly pollMs?: number;
}

export type Threads = ThreadListSnapshot & Pick<ThreadList, "refresh" | "loadMore">;

const POLL_MS = 15_000;

/** An agent's threads, newest activity first. Renders when the list is another. */
export function useThreads(agentId: string, { pollMs = POLL_MS, ...query }: ThreadsOptions = {}): Threads {
  const account = useAccountFor("useThreads()");
  const about = JSON.stringify(query);
  const list = useMemo(
    () => createThreadList({ account, agentId, query: JSON.parse(about), pollMs }),
    [account, agentId, about, pollMs],
  );
  const snapshot = useSyncExternalStore(list.subscribe, list.getSnapshot, unlisted);
  return useMemo(() => ({ ...snapshot, refresh: list.refresh, loadMore: list.loadMore }), [snapshot, list]);
}

const unlisted = () => UNLISTED;

export interface ThreadListSnapshot {
  /** Newest activity first; `undefined` until the service has responded. */
  readonly threads: readonly ListedThread[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** The failure of the last request. The list before it stays. */
  readonly failure: RequestFailure | undefined;
}

interface ThreadList extends Store<ThreadListSnapshot> {
  /** Reloads all listed pages. */
  refresh(): Promise<void>;
  loadMore(): Promise<void>;
}

interface ThreadListOptions {
  readonly account: AccountApi;
  readonly agentId: string;
  readonly query: Omit<ThreadQuery, "after">;
  /** How often it is reloaded while the page is in view; 0: never. */
  readonly pollMs: number;
}

const UNLISTED: ThreadListSnapshot = {
  threads: undefined,
  hasMore: false,
  isLoading: false,
  failure: undefined,
};

/** A list of threads, loaded with the first listener and polled while the page is in view. */
export function createThreadList({ account, agentId, query, pollMs }: ThreadListOptions): ThreadList {
  const listeners = new Set<() => void>();
  let snapshot = UNLISTED;
  let pages: readonly ThreadPage[] = [];
  /** The newest request: the response to an older one is ignored. */
  let requested = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function become(next: Partial<ThreadListSnapshot>): void {
    snapshot = { ...snapshot, ...next };
    for (const listener of [...listeners]) listener();
  }

  /** Loads pages after `known`, until there are `count`. */
  async function load(known: readonly ThreadPage[], count: number): Promise<void> {
    requested += 1;
    const own = requested;
    become({ isLoading: true });
    const next = [...known];
    do {
      const after = next.at(-1)?.next;
      const page = await account.threads(agentId, { ...query, ...(after && { after }) });
      if (own !== requested) return;
      if ("kind" in page) return become({ isLoading: false, failure: page });
      next.push(page);
    } while (next.length < count && next.at(-1)?.next);
    pages = next;
    become({
      threads: distinct(pages.flatMap(({ threads }) => threads)),
      hasMore: Boolean(pages.at(-1)?.next),
      isLoading: false,
      failure: undefined,
    });
  }

  const refresh = () => load([], pages.length);

  function poll(): void {
    if (document.visibilityState !== "hidden" && !snapshot.isLoading) void refresh();
  }

  return {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      const own = () => listener();
      if (listeners.size === 0) {
        void refresh();
        if (pollMs > 0) timer = setInterval(poll, pollMs);
      }
      listeners.add(own);
      return () => {
        if (listeners.delete(own) && listeners.size === 0) clearInterval(timer);
      };
    },
    refresh,
    loadMore: () => (snapshot.hasMore ? load(pages, pages.length + 1) : Promise.resolve()),
  };
}

/** Removes duplicates. A thread with activity between the loads of two pages is in both: the first entry is newer. */
function distinct(threads: readonly ListedThread[]): readonly ListedThread[] {
  const seen = new Set<string>();
  return threads.filter(({ threadId, visibility }) => {
    const key = `${visibility} ${threadId}`;
    return !seen.has(key) && seen.add(key);
  });
}
