import type { Clock } from "@throughline/ai-core";
import { type CommandPolicy, DEFAULT_COMMAND_POLICY } from "../commands/scheduler-state.js";
import { type ConnectionPolicy, DEFAULT_CONNECTION_POLICY } from "../connection/connection.js";
import type { PollPolicy } from "../poller/poller.js";
import { createHttpService, type HttpServiceOptions } from "../service/http-service.js";
import type {
  Circumstances,
  ServicePort,
  ThreadName,
  ToolDeclaration,
  Visibility,
} from "../service/service-port.js";
import type { ChannelPort, LockPort } from "../tabs/ports.js";
import type { FrontendTool } from "../tools/frontend-tools.js";
import { type AgentStore, createAgentStore } from "./agent-store.js";
import { createBrowserStream } from "./browser-stream.js";
import { type ClientParts, missingPart } from "./client-parts.js";
import { isPending } from "./command-shell.js";
import { newId } from "./new-id.js";
import { type FrameScheduler, nextFrame } from "./notifier.js";
import { type LogReader, openLog } from "./open-log.js";
import { createOpenPages } from "./open-pages.js";
import { createPendingSyncs, pageStorage, type StoragePort } from "./storage.js";
import { pageSurroundings, type Surroundings } from "./surroundings.js";
import { systemClock } from "./system-clock.js";
import type { Telemetry } from "./telemetry.js";
import { createThreadHandle, type ThreadHandle, type ThreadHandleParts } from "./thread-handle.js";
import { createThreadKeeper } from "./thread-keeper.js";
import { createThreadLine, type LineHooks, type ThreadLine } from "./thread-line.js";

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
  /** The thread that stands for an agent in a list; polled while somebody looks at `agents`. */
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
  readonly agents: AgentStore;
  /** The same handle for the same thread. */
  thread(agentId: string, threadId: string, visibility?: Visibility): ThreadHandle;
  /** Asks now and then how these stand, as long as no page of theirs is open. */
  watch(threads: readonly ThreadName[]): () => void;
  /** A tool that runs in this page, until what it returns is called. */
  declareTool(tool: FrontendTool): () => void;
  close(): void;
}

interface Held extends ThreadHandleParts {
  readonly line: ThreadLine;
}

const GC_TIME_MS = 5 * 60_000;

export function createAgentClient(options: AgentClientOptions): AgentClient {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const schedule = options.schedule ?? nextFrame;
  const surroundings = options.surroundings ?? pageSurroundings;
  const service = options.service ?? createHttpService(options);
  const telemetry = options.telemetry ?? {};
  const scope = `throughline:${JSON.stringify([options.url, options.account ?? null, options.subject ?? null])}`;
  const storage = options.storage ?? pageStorage();
  const syncs = createPendingSyncs(storage, `${scope}:`);
  const stream = createBrowserStream({
    service,
    clock,
    random,
    telemetry,
    policy: { ...DEFAULT_CONNECTION_POLICY, ...options.connectionPolicy },
  });
  const commandPolicy = { ...DEFAULT_COMMAND_POLICY, ...options.commandPolicy };
  const held = new Map<string, Held>();
  /** By thread, for as long as the page has them: what is let go of behind one comes back when it is used. */
  const handles = new Map<string, WeakRef<ThreadHandle>>();
  const partsOf = new WeakMap<ThreadHandle, ThreadHandleParts>();
  const unused = new FinalizationRegistry<string>((key) => {
    if (!handles.get(key)?.deref()) handles.delete(key);
  });
  const watched = new Set<readonly string[]>();
  let statusKeys: readonly string[] = [];
  let closed = false;

  const tools = options.tools?.({ locks: options.locks, scope, onChange: () => tabs?.wantsChanged() });
  const poller = options.polling?.({
    clock,
    random,
    policy: options.pollPolicy,
    poll: (key) => hold(key).line.poll(),
  });
  const tabs = options.tabs?.({
    locks: options.locks,
    channels: options.channels,
    storage,
    scope,
    clock,
    telemetry,
    tabId: newId(clock.now()),
    createLine,
    openLog: readLog,
    wants: () => ({ watched: watchedKeys(), tools: ownTools() }),
    onWanted: tellPoller,
  });
  const pages = createOpenPages({
    maxOpen: options.maxOpen ?? 1,
    // A page may be left after the client was closed; the one below it is not opened for that.
    connect: (key) => (closed ? () => {} : hold(key).line.open()),
    onChange: (keys) => poller?.tell({ kind: "open", keys }),
  });
  const agents = createAgentStore({
    service,
    clock,
    schedule,
    threadOf(agentId) {
      const known = statusKeysOf(agentId).map((key) => held.get(key))[0];
      return known ? { threadId: known.handle.threadId, view: known.line.view() } : null;
    },
    onWatched(agentIds) {
      statusKeys = agentIds.flatMap(statusKeysOf);
      updateWatched();
    },
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

  /** One, or none. */
  function statusKeysOf(agentId: string): readonly string[] {
    const threadId = options.statusThread?.(agentId);
    return threadId === undefined ? [] : [keyOf({ agentId, threadId })];
  }

  function watchedKeys(): readonly string[] {
    return [...statusKeys, ...[...watched].flat()];
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

  function createLine(key: string, hooks: LineHooks): ThreadLine {
    return createThreadLine({
      ...hooks,
      thread: threadOf(key),
      service,
      stream,
      clock,
      telemetry,
      commandPolicy,
      circumstances: () => ({
        tools: tabs?.offered(ownTools()) ?? ownTools(),
        context: options.context?.() ?? [],
      }),
      persist: (sync) => syncs.save(key, sync),
    });
  }

  const keeper = createThreadKeeper({
    clock,
    gcTime: options.gcTime ?? (typeof window === "undefined" ? Number.POSITIVE_INFINITY : GC_TIME_MS),
    isUsed(key) {
      const pending = held.get(key)?.line.pending();
      return (pending && isPending(pending)) || watchedKeys().includes(key) || (tabs?.isWanted(key) ?? false);
    },
    letGo(key) {
      const left = held.get(key);
      held.delete(key);
      left?.line.close();
      tabs?.letGo(key);
      left?.forget();
    },
  });

  function handleOf(key: string): ThreadHandleParts {
    const known = handles.get(key)?.deref();
    const kept = known && partsOf.get(known);
    if (kept) return kept;
    const parts = createThreadHandle({
      ...threadOf(key),
      line: () => hold(key).line,
      clock,
      schedule,
      open: () => retaining(key, pages.open(key)),
      readLog: (reader) => retaining(key, tabs ? tabs.openLog(key, reader) : readLog(key, reader)),
      retain: () => keeper.retain(key),
    });
    handles.set(key, new WeakRef(parts.handle));
    partsOf.set(parts.handle, parts);
    unused.register(parts.handle, key);
    return parts;
  }

  function retaining(key: string, leave: () => void): () => void {
    const release = keeper.retain(key);
    return () => {
      leave();
      release();
    };
  }

  function hold(key: string): Held {
    const known = held.get(key);
    if (known) return known;
    const parts = handleOf(key);
    const hooks: LineHooks = {
      onChange() {
        parts.changed();
        if (statusKeys.includes(key)) agents.changed();
        const now = held.get(key);
        if (now) tools?.look(key, now.line);
      },
      onShown: (input) => parts.shown(input),
    };
    const line = tabs ? tabs.line(key, hooks) : createLine(key, hooks);
    const created: Held = { ...parts, line };
    held.set(key, created);
    if (closed) {
      line.close();
      return created;
    }
    keeper.wait(key);
    // What was owed when the page was left. Sent again under its id, it is the same.
    const owed = syncs.load(key);
    if (owed) void line.submit(owed);
    return created;
  }

  return {
    agents: agents.store,
    thread: (agentId, threadId, visibility) => hold(keyOf({ agentId, threadId, visibility })).handle,
    watch(threads) {
      if (!poller) throw missingPart("polling: pollThreads");
      const keys = threads.map(keyOf);
      watched.add(keys);
      updateWatched();
      return () => {
        if (watched.delete(keys)) updateWatched();
      };
    },
    declareTool(tool) {
      if (!tools) throw missingPart("tools: frontendTools");
      const withdraw = tools.declare(tool);
      for (const [key, { line }] of held) tools.look(key, line);
      return withdraw;
    },
    close() {
      closed = true;
      leave();
      poller?.close();
      agents.close();
      tools?.close();
      keeper.close();
      for (const { line, close } of held.values()) {
        line.close();
        close();
      }
      tabs?.close();
      stream.close();
    },
  };
}

function keyOf({ agentId, threadId, visibility }: ThreadName): string {
  return JSON.stringify(visibility === undefined ? [agentId, threadId] : [agentId, threadId, visibility]);
}

function threadOf(key: string): ThreadName {
  const [agentId, threadId, visibility]: [string, string, Visibility?] = JSON.parse(key);
  return { agentId, threadId, visibility };
}
