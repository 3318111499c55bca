import type { Clock } from "@throughline/ai-core";
import { newId } from "../commands/mutation-ids.js";
import { createPendingSyncs, pageStorage, type StoragePort } from "../commands/pending-sync.js";
import { type CommandPolicy, DEFAULT_COMMAND_POLICY } from "../commands/scheduler-state.js";
import { type ConnectionPolicy, DEFAULT_CONNECTION_POLICY } from "../connection/connection-state.js";
import { createBrowserStream, type LogReader, openLog } from "../connection/thread-stream.js";
import {
  type PollPolicy,
  type PollShell,
  type PollShellOptions,
  pollThreads,
} from "../polling/agent-status-poller.js";
import type { ChannelPort, LockPort } from "../tabs/ports.js";
import { shareTabs, type TabSharingOptions, type Tabs } from "../tabs/shared-thread-stream.js";
import {
  type FrontendTool,
  type FrontendTools,
  type FrontendToolsOptions,
  frontendTools,
} from "../tools/frontend-tools.js";
import type {
  Circumstances,
  ServicePort,
  ThreadName,
  ToolDeclaration,
  Visibility,
} from "../transport/agent-service.js";
import { createHttpService, type HttpServiceOptions } from "../transport/http-agent-service.js";
import { type AgentList, type AgentListOptions, type AgentStore, listAgents } from "./agent-directory.js";
import { pageSurroundings, type Surroundings, systemClock, type Telemetry } from "./environment.js";
import { type FrameScheduler, nextFrame } from "./store.js";
import { createThreadLine, type LineHooks, type MovableLine } from "./thread-controller.js";
import type { ThreadHandle } from "./thread-handle.js";
import { createHeldThreads, keyOf, threadOf } from "./thread-registry.js";

export interface AgentClientOptions extends HttpServiceOptions, ClientParts {
  /** Who is signed in, account and person: what one left to be sent is never sent as another, and their tabs do not share. */
  readonly account?: string;
  readonly subject?: string;
  /** How many pages may have a stream at once; the newest have. */
  readonly maxOpen?: number;
  /**
   * How long a thread is kept that no page shows, in milliseconds: what it showed, its frames and its connection. Five minutes in
   * a page; elsewhere for as long as the client lives.
   */
  readonly gcTime?: number;
  /** The thread that stands for an agent in a list; polled while `agents` has a subscriber. */
  readonly statusThread?: (agentId: string) => string | undefined;
  /** Facts that go with every request. */
  readonly context?: () => Circumstances["context"];
  readonly connectionPolicy?: Partial<ConnectionPolicy>;
  readonly commandPolicy?: Partial<CommandPolicy>;
  readonly pollPolicy?: Partial<PollPolicy>;
  readonly telemetry?: Telemetry;
  /** The world, for tests and for places that are no page. */
  readonly service?: ServicePort;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly schedule?: FrameScheduler;
  readonly storage?: StoragePort;
  readonly surroundings?: Surroundings;
  readonly locks?: LockPort;
  readonly channels?: ChannelPort;
}

export interface AgentClient {
  /** The agents that the service has. */
  readonly agents: AgentStore;
  /** The same handle for the same thread. */
  thread(agentId: string, threadId: string, visibility?: Visibility): ThreadHandle;
  /** Asks now and then how these stand, as long as no page of theirs is open. */
  watch(threads: readonly ThreadName[]): () => void;
  /** A tool that runs in this page, until what it returns is called. */
  declareTool(tool: FrontendTool): () => void;
  close(): void;
}

const GC_TIME_MS = 5 * 60_000;

export function createAgentClient(options: AgentClientOptions): AgentClient {
  const {
    service = createHttpService(options),
    clock = systemClock,
    random = Math.random,
    schedule = nextFrame,
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
  const stream = createBrowserStream({
    ...world,
    policy: { ...DEFAULT_CONNECTION_POLICY, ...options.connectionPolicy },
  });
  const commandPolicy = { ...DEFAULT_COMMAND_POLICY, ...options.commandPolicy };
  const watched = new Set<readonly string[]>();

  const tools = options.tools?.({ ...world, onChange: () => tabs?.wantsChanged() });
  const poller = options.polling?.({
    ...world,
    policy: options.pollPolicy,
    poll: (key) => threads.hold(key).line.poll(),
  });
  const tabs = options.tabs?.({
    ...world,
    tabId: newId(clock.now()),
    createLine,
    openLog: readLog,
    wants: () => ({ watched: watchedKeys(), tools: ownTools() }),
    onWanted: tellPoller,
  });
  const threads = createHeldThreads({
    ...world,
    syncs,
    maxOpen: options.maxOpen ?? 1,
    gcTime: options.gcTime ?? (typeof window === "undefined" ? Number.POSITIVE_INFINITY : GC_TIME_MS),
    createLine: tabs?.line ?? createLine,
    readLog: tabs?.openLog ?? readLog,
    onChange(key, line) {
      agents?.changed(key);
      tools?.look(key, line);
    },
    onOpen: (keys) => poller?.tell({ kind: "open", keys }),
    isWanted: (key) => watchedKeys().includes(key) || (tabs?.isWanted(key) ?? false),
    onLetGo: (key) => tabs?.letGo(key),
  });
  const agents = options.agents?.({
    ...world,
    statusThread: options.statusThread,
    viewOf: (key) => threads.all().get(key)?.line.view(),
    onWatched: updateWatched,
  });
  const leave = surroundings.subscribe(tellSurroundings);
  tellSurroundings();

  function tellSurroundings(): void {
    const isOnline = surroundings.isOnline();
    const isHidden = surroundings.isHidden();
    stream.tell({ kind: "online", isOnline });
    if (!isHidden) stream.tell({ kind: "visible" });
    tabs?.frozen(surroundings.isFrozen?.() ?? false);
    tabs?.seen(!isHidden);
    poller?.tell({ kind: "paused", isPaused: isHidden || !isOnline });
  }

  function watchedKeys(): readonly string[] {
    return [...(agents?.watched() ?? []), ...[...watched].flat()];
  }

  function tellPoller(): void {
    poller?.tell({ kind: "watch", keys: [...watchedKeys(), ...(tabs?.watched() ?? [])] });
  }

  function updateWatched(): void {
    tellPoller();
    tabs?.wantsChanged();
  }

  function ownTools(): readonly ToolDeclaration[] {
    return tools?.declarations() ?? [];
  }

  function readLog(key: string, reader: LogReader): () => void {
    return openLog(stream, threadOf(key), reader);
  }

  function createLine(key: string, hooks: LineHooks): MovableLine {
    return createThreadLine({
      ...world,
      ...hooks,
      thread: threadOf(key),
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
    thread: (agentId, threadId, visibility) => threads.hold(keyOf({ agentId, threadId, visibility })).handle,
    watch(names) {
      if (!poller) throw missingPart("polling: pollThreads");
      const keys = names.map(keyOf);
      watched.add(keys);
      updateWatched();
      return () => {
        if (watched.delete(keys)) updateWatched();
      };
    },
    declareTool(tool) {
      if (!tools) throw missingPart("tools: frontendTools");
      const withdraw = tools.declare(tool);
      for (const [key, { line }] of threads.all()) tools.look(key, line);
      return withdraw;
    },
    close() {
      leave();
      poller?.close();
      agents?.close();
      tools?.close();
      threads.close();
      tabs?.close();
      stream.close();
    },
  };
}

/** What not every page needs. It is given by value, so that a page that does not use it does not download it. */
export interface ClientParts {
  /** `shareTabs`: one connection for all tabs of a browser. Left out, each tab has its own. */
  readonly tabs?: (options: TabSharingOptions) => Tabs | undefined;
  /** `pollThreads`: asks now and then how threads stand whose page is not open. `watch` needs it, and so does `statusThread`. */
  readonly polling?: (options: PollShellOptions) => PollShell;
  /** `frontendTools`: runs tools in the page. `declareTool` needs it. */
  readonly tools?: (options: FrontendToolsOptions) => FrontendTools;
  /** `listAgents`: the agents that the service has. `agents` needs it. */
  readonly agents?: (options: AgentListOptions) => AgentList;
}

/** For who asks of a client what it was not given. */
function missingPart(part: string): Error {
  return new Error(`Pass \`${part}\` to createAgentClient().`);
}

/** All that a client can do, for options to be spread with. */
export const everyPart: Required<ClientParts> = {
  tabs: shareTabs,
  polling: pollThreads,
  tools: frontendTools,
  agents: listAgents,
};
