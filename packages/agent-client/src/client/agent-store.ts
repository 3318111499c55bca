import type { Clock } from "@throughline/ai-core";
import type { StreamFailure } from "../connection/connection.js";
import type { ThreadView } from "../projection/thread-view.js";
import { type AgentInfo, isFailure, type ServicePort } from "../service/service-port.js";
import { createNamedTimers } from "./named-timers.js";
import { createNotifier, type FrameScheduler } from "./notifier.js";
import type { Store } from "./store.js";

export interface AgentView extends AgentInfo {
  /** The thread that stands for it in a list, and how that stands; `null`: none, or not known yet. */
  readonly thread: { readonly threadId: string; readonly view: ThreadView } | null;
}

export interface AgentsSnapshot {
  /** `undefined` until the service has said. */
  readonly agents: readonly AgentView[] | undefined;
  readonly failure: StreamFailure | undefined;
}

export interface AgentStore extends Store<AgentsSnapshot> {
  /** Asks the service again. */
  refresh(): Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Asked for when somebody looks, and again until the service answers. */
export function createAgentStore(options: {
  readonly service: ServicePort;
  readonly clock: Clock;
  readonly schedule: FrameScheduler;
  /** The thread that stands for an agent, and how it is shown; asked again after `changed`. */
  readonly threadOf: (agentId: string) => AgentView["thread"];
  /** Which agents somebody looks at. */
  readonly onWatched: (agentIds: readonly string[]) => void;
}) {
  const { service, clock } = options;
  let infos: readonly AgentInfo[] | undefined;
  let failure: StreamFailure | undefined;
  let snapshot: AgentsSnapshot = { agents: undefined, failure: undefined };
  let listeners = 0;
  let failures = 0;
  let isAsking = false;
  const timers = createNamedTimers<"retry">(clock, () => void refresh());
  const notifier = createNotifier(options.schedule, () => {
    const before = new Map(snapshot.agents?.map((agent) => [agent.agentId, agent]));
    const agents = infos?.map((info) => {
      const thread = options.threadOf(info.agentId);
      const known = before.get(info.agentId);
      const isSame = known && isSameInfo(known, info) && known.thread?.view === thread?.view;
      return isSame ? known : { ...info, thread };
    });
    snapshot = { agents, failure };
  });

  async function refresh(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    const answer = await service.agents();
    isAsking = false;
    if (isFailure(answer)) {
      failure = answer;
      failures += 1;
      if (listeners > 0) timers.set("retry", Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures));
    } else {
      infos = answer;
      failure = undefined;
      failures = 0;
    }
    tellWatched();
    notifier.changed();
  }

  function tellWatched(): void {
    options.onWatched(listeners > 0 ? (infos ?? []).map(({ agentId }) => agentId) : []);
  }

  const store: AgentStore = {
    getSnapshot: () => snapshot,
    subscribe(listener) {
      const unsubscribe = notifier.subscribe(listener);
      listeners += 1;
      if (infos) tellWatched();
      else void refresh();
      return () => {
        if (!unsubscribe()) return;
        listeners -= 1;
        if (listeners > 0) return;
        timers.clearAll();
        tellWatched();
      };
    },
    refresh,
  };
  return {
    store,
    changed: () => notifier.changed(),
    close() {
      timers.clearAll();
      notifier.close();
    },
  };
}

function isSameInfo(a: AgentInfo, b: AgentInfo): boolean {
  return a.name === b.name && a.description === b.description && a.commands.join() === b.commands.join();
}
