import type { Clock } from "@throughline/ai-core";
import { newId } from "../commands/mutation-ids.js";
import { createPendingSyncs, pageStorage, type StoragePort } from "../commands/pending-sync.js";
import { type CommandPolicy, DEFAULT_COMMAND_POLICY } from "../commands/scheduler-state.js";
import { type ConnectionPolicy, DEFAULT_CONNECTION_POLICY } from "../connection/connection-state.js";
import { createThreadStream, type LogReader, openLog } from "../connection/thread-stream.js";
import {
  type AgentStatusPoller,
  type AgentStatusPollerOptions,
  type PollPolicy,
  statusPolling,
} from "../polling/agent-status-poller.js";
import type { ChannelPort, LockPort } from "../tabs/ports.js";
import { type TabSharingOptions, type Tabs, tabSharing } from "../tabs/shared-thread-stream.js";
import {
  type FrontendTool,
  type FrontendTools,
  type FrontendToolsOptions,
  frontendTools,
} from "../tools/frontend-tools.js";
import type {
  AgentService,
  RequestContext,
  ThreadName,
  ToolDeclaration,
  Visibility,
} from "../transport/agent-service.js";
import { createHttpService, type HttpServiceOptions } from "../transport/http-agent-service.js";
import { type AgentList, type AgentListOptions, type AgentStore, listAgents } from "./agent-directory.js";
import { pageSurroundings, type Surroundings, systemClock, type Telemetry } from "./environment.js";
import { type FrameScheduler, nextAnimationFrame } from "./store.js";
import { type ControllerHooks, createThreadController, type MovableController } from "./thread-controller.js";
import type { ThreadHandle } from "./thread-handle.js";
import { createThreadRegistry, parseThreadKey, threadKey } from "./thread-registry.js";

export interface AgentClientOptions extends HttpServiceOptions, ClientFeatures {
  /** The signed-in account and person: pending commands of one are never sent as another, and their tabs do not share. */
  readonly account?: string;
  readonly subject?: string;
  /** How many pages may have a stream at once; the newest do. */
  readonly maxOpen?: number;
  /**
   * How long a thread is retained that no page shows, in milliseconds: its view, its frames and its connection. Five minutes in
   * a page; elsewhere for as long as the client lives.
   */
  readonly gcTime?: number;
  /** The thread that represents an agent in a list; polled while `agents` has a subscriber. */
  readonly statusThread?: (agentId: string) => string | undefined;
  /** Context sent with every request. */
  readonly context?: () => RequestContext["context"];
  readonly connectionPolicy?: Partial<ConnectionPolicy>;
  readonly commandPolicy?: Partial<CommandPolicy>;
  readonly pollPolicy?: Partial<PollPolicy>;
  readonly telemetry?: Telemetry;
  /** The environment, for tests and for programs outside a page. */
  readonly service?: AgentService;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly schedule?: FrameScheduler;
  readonly storage?: StoragePort;
  readonly surroundings?: Surroundings;
  readonly locks?: LockPort;
  readonly channels?: ChannelPort;
}

export interface AgentClient {
  /** The agents of the service. */
  readonly agents: AgentStore;
  /** Returns the handle of a thread: the same handle for the same thread. */
  thread(agentId: string, threadId: string, visibility?: Visibility): ThreadHandle;
  /** Polls the status of these threads while no page of theirs is open. */
  watch(threads: readonly ThreadName[]): () => void;
  /** Declares a tool that runs in this page. Returns a function that removes it. */
  declareTool(tool: FrontendTool): () => void;
  close(): void;
}

const GC_TIME_MS = 5 * 60_000;

export function createAgentClient(options: AgentClientOptions): AgentClient {
  const {
    service = createHttpService(options),
    clock = systemClock,
    random = Math.random,
    schedule = nextAnimationFrame,
    storage = pageStorage(),
    surroundings = pageSurroundings,
    telemetry = {},
    locks,
    channels,
    url,
    account = null,
    subject = null,
  } = options;
  const scope = `throughline:${JSON.stringify([url, account, subject])}`;
  const world = { service, clock, random, schedule, storage, telemetry, locks, channels, scope };
  const syncs = createPendingSyncs(storage, `${scope}:`);
  const stream = createThreadStream({
    ...world,
    policy: { ...DEFAULT_CONNECTION_POLICY, ...options.connectionPolicy },
  });
  const commandPolicy = { ...DEFAULT_COMMAND_POLICY, ...options.commandPolicy };
  const watched = new Set<readonly string[]>();

  const tools = options.tools?.({ ...world, onChange: () => tabs?.wantsChanged() });
  const poller = options.polling?.({
    ...world,
    policy: options.pollPolicy,
    poll: (key) => threads.acquire(key).controller.poll(),
  });
  const tabs = options.tabs?.({
    ...world,
    tabId: newId(clock.now()),
    createController,
    openLog: readLog,
    wants: () => ({ watched: watchedKeys(), tools: ownTools() }),
    onWanted: updatePolling,
  });
  const threads = createThreadRegistry({
    ...world,
    syncs,
    maxOpen: options.maxOpen ?? 1,
    gcTime: options.gcTime ?? (typeof window === "undefined" ? Number.POSITIVE_INFINITY : GC_TIME_MS),
    createController: tabs?.createController ?? createController,
    readLog: tabs?.openLog ?? readLog,
    onChange(key, controller) {
      agents?.changed(key);
      tools?.runPendingCalls(key, controller);
    },
    onOpen: (keys) => poller?.update({ kind: "open", keys }),
    isWanted: (key) => watchedKeys().includes(key) || (tabs?.isWanted(key) ?? false),
    onEvict: (key) => tabs?.evict(key),
  });
  const agents = options.agents?.({
    ...world,
    statusThread: options.statusThread,
    viewOf: (key) => threads.all().get(key)?.controller.view(),
    onWatched: updateWatched,
  });
  const unsubscribe = surroundings.subscribe(applySurroundings);
  applySurroundings();

  function applySurroundings(): void {
    const isOnline = surroundings.isOnline();
    const isHidden = surroundings.isHidden();
    stream.notify({ kind: "online", isOnline });
    if (!isHidden) stream.notify({ kind: "visible" });
    tabs?.frozen(surroundings.isFrozen?.() ?? false);
    tabs?.visibilityChanged(!isHidden);
    poller?.update({ kind: "paused", isPaused: isHidden || !isOnline });
  }

  function watchedKeys(): readonly string[] {
    return [...(agents?.watched() ?? []), ...[...watched].flat()];
  }

  function updatePolling(): void {
    poller?.update({ kind: "watch", keys: [...watchedKeys(), ...(tabs?.watched() ?? [])] });
  }

  function updateWatched(): void {
    updatePolling();
    tabs?.wantsChanged();
  }

  function ownTools(): readonly ToolDeclaration[] {
    return tools?.declarations() ?? [];
  }

  function readLog(key: string, reader: LogReader): () => void {
    return openLog(stream, parseThreadKey(key), reader);
  }

  function createController(key: string, hooks: ControllerHooks): MovableController {
    return createThreadController({
      ...world,
      ...hooks,
      thread: parseThreadKey(key),
      stream,
      commandPolicy,
      circumstances: () => ({
        tools: tabs?.offered(ownTools()) ?? ownTools(),
        context: options.context?.() ?? [],
      }),
      persist: (sync) => syncs.save(key, sync),
    });
  }

  return {
    get agents() {
      if (!agents) throw missingPart("agents: listAgents");
      return agents.store;
    },
    thread: (agentId, threadId, visibility) =>
      threads.acquire(threadKey({ agentId, threadId, visibility })).handle,
    watch(names) {
      if (!poller) throw missingPart("polling: statusPolling");
      const keys = names.map(threadKey);
      watched.add(keys);
      updateWatched();
      return () => {
        if (watched.delete(keys)) updateWatched();
      };
    },
    declareTool(tool) {
      if (!tools) throw missingPart("tools: frontendTools");
      const withdraw = tools.declare(tool);
      for (const [key, { controller }] of threads.all()) tools.runPendingCalls(key, controller);
      return withdraw;
    },
    close() {
      unsubscribe();
      poller?.close();
      agents?.close();
      tools?.close();
      threads.close();
      tabs?.close();
      stream.close();
    },
  };
}

/** Optional features of a client. Passed by value, so that a page that does not use one does not download it. */
export interface ClientFeatures {
  /** `tabSharing`: one connection for all tabs of a browser. Absent: each tab has its own. */
  readonly tabs?: (options: TabSharingOptions) => Tabs | undefined;
  /** `statusPolling`: polls the status of threads whose page is not open. Required by `watch` and `statusThread`. */
  readonly polling?: (options: AgentStatusPollerOptions) => AgentStatusPoller;
  /** `frontendTools`: runs tools in the page. Required by `declareTool`. */
  readonly tools?: (options: FrontendToolsOptions) => FrontendTools;
  /** `listAgents`: the agents of the service. Required by `agents`. */
  readonly agents?: (options: AgentListOptions) => AgentList;
}

/** The error of using a feature that was not passed to the client. */
function missingPart(part: string): Error {
  return new Error(`Pass \`${part}\` to createAgentClient().`);
}

/** All features of a client, to be spread into its options. */
export const allFeatures: Required<ClientFeatures> = {
  tabs: tabSharing,
  polling: statusPolling,
  tools: frontendTools,
  agents: listAgents,
};
