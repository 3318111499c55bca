import type { Clock } from "@throughline/ai-core";
import type { RequestFailure } from "../connection/connection-state.js";
import type { ThreadView } from "../projection/thread-view.js";
import { type AgentInfo, type AgentService, isFailure } from "../transport/agent-service.js";
import { createNamedTimers } from "./environment.js";
import { createNotifier, type FrameScheduler, once, type Store } from "./store.js";
import { threadKey } from "./thread-registry.js";

export interface AgentView extends AgentInfo {
  /** The thread that represents the agent in a list, and its view; `null`: none, or not known yet. */
  readonly thread: { readonly threadId: string; readonly view: ThreadView } | null;
}

export interface AgentsSnapshot {
  /** `undefined` until the service has responded. */
  readonly agents: readonly AgentView[] | undefined;
  readonly failure: RequestFailure | undefined;
}

export interface AgentStore extends Store<AgentsSnapshot> {
  /** Requests the agents again. */
  refresh(): Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

export interface AgentList {
  readonly store: AgentStore;
  /** Status threads of the agents, while the list has a subscriber. */
  watched(): readonly string[];
  /** Reports that the view of a thread changed. */
  changed(key: string): void;
  close(): void;
}

export interface AgentListOptions {
  readonly service: AgentService;
  readonly clock: Clock;
  readonly schedule: FrameScheduler;
  /** The thread that represents an agent. */
  readonly statusThread: ((agentId: string) => string | undefined) | undefined;
  /** The view of a thread, where that is known. */
  readonly viewOf: (key: string) => ThreadView | undefined;
  readonly onWatched: () => void;
}

/** The agents of the service: requested with the first subscriber, and retried until the service responds. */
export function listAgents(options: AgentListOptions): AgentList {
  const { service, clock } = options;
  let watched: readonly string[] = [];
  let infos: readonly AgentInfo[] | undefined;
  let failure: RequestFailure | undefined;
  let snapshot: AgentsSnapshot = { agents: undefined, failure: undefined };
  let listeners = 0;
  let failures = 0;
  let isLoading = false;
  const timers = createNamedTimers<"retry">(clock, () => void refresh());
  const notifier = createNotifier(options.schedule, () => {
    const before = new Map(snapshot.agents?.map((agent) => [agent.agentId, agent]));
    const agents = infos?.map((info) => {
      const thread = threadOf(info.agentId);
      const known = before.get(info.agentId);
      const isSame = known && isSameInfo(known, info) && known.thread?.view === thread?.view;
      return isSame ? known : { ...info, thread };
    });
    snapshot = { agents, failure };
  });

  async function refresh(): Promise<void> {
    if (isLoading) return;
    isLoading = true;
    const response = await service.agents();
    isLoading = false;
    if (isFailure(response)) {
      failure = response;
      failures += 1;
      if (listeners > 0) timers.set("retry", Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures));
    } else {
      infos = response;
      failure = undefined;
      failures = 0;
    }
    refreshWatched();
    notifier.changed();
  }

  function threadOf(agentId: string): AgentView["thread"] {
    const threadId = options.statusThread?.(agentId);
    const view = threadId === undefined ? undefined : options.viewOf(threadKey({ agentId, threadId }));
    return view && threadId !== undefined ? { threadId, view } : null;
  }

  function refreshWatched(): void {
    watched = (listeners > 0 ? (infos ?? []) : []).flatMap(({ agentId }) => {
      const threadId = options.statusThread?.(agentId);
      return threadId === undefined ? [] : [threadKey({ agentId, threadId })];
    });
    options.onWatched();
  }

  const store: AgentStore = {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      const unsubscribe = notifier.subscribe(listener);
      listeners += 1;
      if (infos) refreshWatched();
      else void refresh();
      return once(() => {
        unsubscribe();
        listeners -= 1;
        if (listeners > 0) return;
        timers.clearAll();
        refreshWatched();
      });
    },
    refresh,
  };
  return {
    store,
    watched: () => watched,
    changed(key) {
      if (watched.includes(key)) notifier.changed();
    },
    close() {
      timers.clearAll();
      notifier.close();
    },
  };
}

function isSameInfo(a: AgentInfo, b: AgentInfo): boolean {
  return a.name === b.name && a.description === b.description && a.commands.join() === b.commands.join();
}
