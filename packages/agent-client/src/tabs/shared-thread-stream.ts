import type { Clock } from "@throughline/ai-core";
import { createNamedTimers, type Telemetry } from "../client/environment.js";
import type { FrameScheduler } from "../client/store.js";
import type { ControllerHooks, MovableController, ThreadController } from "../client/thread-controller.js";
import type { StoragePort } from "../commands/pending-sync.js";
import type { SchedulerState } from "../commands/scheduler-state.js";
import type { LogReader } from "../connection/thread-stream.js";
import type { ToolDeclaration } from "../transport/agent-service.js";
import { createLeaderLock } from "./leader-lock.js";
import {
  type Leadership,
  type LeadershipEffect,
  type LeadershipInput,
  newcomer,
  transitionLeadership,
} from "./leadership.js";
import { createOtherTabs } from "./other-tabs.js";
import { type ChannelPort, type LockPort, pageChannels, pageLocks } from "./ports.js";
import { createSharedLines } from "./shared-lines.js";
import {
  createTabChannels,
  type FollowerMessage,
  type FollowerWord,
  type LeaderWord,
  type LogMessage,
  type LogWord,
  type TabMessage,
  type WantedLog,
  type Wants,
} from "./tab-channel.js";

interface TabsOptions {
  readonly locks: LockPort;
  readonly channels: ChannelPort;
  readonly storage: StoragePort | undefined;
  /** The same for tabs that share: one service, one account. */
  readonly scope: string;
  readonly tabId: string;
  readonly clock: Clock;
  /** Schedules the sending of pending frames. */
  readonly schedule: FrameScheduler;
  readonly telemetry: Telemetry;
  readonly createController: (key: string, hooks: ControllerHooks) => MovableController;
  /** Reads a thread's log on this tab's own stream. */
  readonly openLog: (key: string, reader: LogReader) => () => void;
  /** The needs of this tab. */
  readonly wants: () => Wants;
  /** The needs of the other tabs changed. */
  readonly onWanted: () => void;
}

export interface Tabs {
  createController(key: string, hooks: ControllerHooks): ThreadController;
  /** Reads a thread's log on the leader's stream. Returns a function that stops reading. */
  openLog(key: string, reader: LogReader): () => void;
  /** The threads that this tab polls for the others: none, unless it leads. */
  watched(): readonly string[];
  /** Whether another tab needs this one to hold the thread. */
  isWanted(key: string): boolean;
  /** Evicts a thread that this tab no longer shows. */
  evict(key: string): void;
  /** The tools of this tab and of the others, one per name. */
  offered(own: readonly ToolDeclaration[]): readonly ToolDeclaration[];
  wantsChanged(): void;
  visibilityChanged(isVisible: boolean): void;
  frozen(isFrozen: boolean): void;
  close(): void;
}

/** Runs the tabs of one browser as one client: performs the effects of leadership, and passes messages between lines. */
function createTabs(options: TabsOptions): Tabs {
  const { clock, tabId } = options;
  let leadership: Leadership = newcomer;
  let closed = false;
  /** The commands that a leader handed over last, for the next leader. */
  let handed:
    | { readonly epoch: number; readonly commands: Readonly<Record<string, SchedulerState>> }
    | undefined;
  const timers = createNamedTimers<"due">(clock, () => step({ kind: "due" }));
  const lock = createLeaderLock({
    ...options,
    onGranted: (after) => step({ kind: "granted", after }),
    onLost: () => step({ kind: "lost" }),
    onGone: forget,
  });
  const channels = createTabChannels({ ...options, onMessage, onLogMessage });
  const others = createOtherTabs();
  const lines = createSharedLines({
    createController: options.createController,
    isLeader: () => leadership.role === "leader",
    isWanted: others.isWanted,
    send: broadcast,
    // Browsers suspend the timers of a hidden tab: it sends frames at once.
    soon: (callback) => void (leadership.isVisible ? options.schedule(callback) : callback()),
    ask,
    onOpen: () => askLeader("with-offers"),
  });
  const logs = createLogRelay({
    tabId,
    openLog: options.openLog,
    onChange: () => askLeader(),
    postToTab: (tab, word) => channels.postToTab(tab, { ...word, epoch: leadership.epoch }),
  });

  function step(input: LeadershipInput): void {
    if (closed) return;
    const [next, effects] = transitionLeadership(leadership, input, clock.now());
    leadership = next;
    for (const effect of effects) perform(effect);
  }

  function perform(effect: LeadershipEffect): void {
    switch (effect.kind) {
      case "request-lock":
        lock.request(effect.steal);
        break;
      case "leave-lock":
        lock.leave();
        break;
      case "ask":
        askLeader();
        break;
      case "tell":
        announceLead();
        break;
      case "claim":
        ask({ kind: "claim" });
        break;
      case "lead":
        lead();
        break;
      case "yield":
        yieldTo(effect.to);
        break;
      case "follow":
        // The views of this tab are offered before any request: a leader that is new to a thread continues from them.
        askLeader("with-offers");
        follow();
        break;
      case "timer":
        timers.set("due", effect.at && effect.at - clock.now());
        break;
    }
  }

  function lead(): void {
    const commands = handed?.commands ?? {};
    handed = undefined;
    lock.storeEpoch(leadership.epoch);
    announceLead();
    for (const key of Object.keys(commands)) lines.line(key);
    for (const [key, line] of lines.all) line.lead(commands[key]);
    logs.lead();
  }

  /** Hands over to another tab. All frames were sent before, so the next leader continues exactly here. */
  function yieldTo(to: string | undefined): void {
    const given = [...lines.all].flatMap(([key, line]) => {
      const commands = line.yield();
      return commands ? [[key, commands] as const] : [];
    });
    handed = { epoch: leadership.epoch, commands: Object.fromEntries(given) };
    broadcast({ kind: "yields", to, handed: handed.commands });
    follow();
  }

  function follow(): void {
    others.clear();
    logs.follow();
    options.onWanted();
    for (const line of lines.all.values()) line.follow();
  }

  function announceLead(): void {
    broadcast({ kind: "leads", isHidden: !leadership.isVisible });
  }

  function broadcast(word: LeaderWord): void {
    channels.postToAll({ ...word, epoch: leadership.epoch });
  }

  function ask(word: FollowerWord): void {
    channels.postToAll({ ...word, from: tabId });
  }

  function askLeader(how?: "with-offers"): void {
    if (leadership.role === "leader" || closed) return;
    const open = [...lines.all].filter(([, line]) => line.isOpenHere());
    const offers = open.flatMap(([key, line]) => {
      const offer = how && line.offer();
      return offer ? [{ key, ...offer }] : [];
    });
    ask({
      kind: "ask-leader",
      open: open.map(([key]) => key),
      wants: options.wants(),
      logs: logs.wanted(),
      offers,
    });
  }

  function onMessage(message: TabMessage): void {
    if ("from" in message) {
      if (leadership.role === "leader") serve(message);
      return;
    }
    if (isLate(message)) return;
    if (handed && message.epoch > handed.epoch) handed = undefined;
    const { kind, epoch } = message;
    step({ kind: "received", epoch, ...(kind === "leads" && { isHidden: message.isHidden }) });
    if (kind === "yields") {
      handed = { epoch, commands: message.handed };
      if (message.to === tabId) step({ kind: "yielded", epoch });
    } else if (kind !== "leads") lines.all.get(message.key)?.receive(message);
  }

  function onLogMessage(message: LogMessage): void {
    if (isLate(message)) return;
    step({ kind: "received", epoch: message.epoch });
    logs.receive(message);
  }

  /** Whether a message is from a leader that was succeeded by another. */
  function isLate({ epoch }: { readonly epoch: number }): boolean {
    const isOld = epoch < leadership.epoch;
    if (isOld) options.telemetry.staleDropped?.(1);
    return isOld;
  }

  function serve(message: FollowerMessage): void {
    switch (message.kind) {
      case "ask-leader":
        know(message);
        announceLead();
        break;
      case "claim":
        step({ kind: "claimed", by: message.from });
        break;
      case "leaves":
        forget(message.from);
        break;
      default:
        lines.line(message.key).serve(message);
    }
  }

  function know(message: Extract<FollowerMessage, { kind: "ask-leader" }>): void {
    const { from, open } = message;
    others.set(from, message);
    lock.watch(from);
    for (const key of open) lines.line(key);
    for (const { key, view, cursor } of message.offers) lines.line(key).takeOffer(view, cursor);
    updateLines();
    logs.serve(from, message.logs);
  }

  function forget(tab: string): void {
    logs.serve(tab, []);
    channels.forget(tab);
    if (others.delete(tab)) updateLines();
  }

  function updateLines(): void {
    lines.openElsewhere(others.open());
    options.onWanted();
  }

  // The caller is not ready for callbacks yet.
  queueMicrotask(() => step({ kind: "start" }));

  return {
    createController: lines.show,
    isWanted: others.isWanted,
    evict: lines.evict,
    watched: others.watched,
    offered: others.toolsWith,
    openLog: logs.open,
    wantsChanged: () => askLeader(),
    visibilityChanged: (isVisible) => step({ kind: "seen", isVisible }),
    frozen: (isFrozen) => step({ kind: "frozen", isFrozen }),
    close() {
      if (leadership.role === "follower") ask({ kind: "leaves" });
      closed = true;
      timers.clearAll();
      lock.close();
      channels.close();
    },
  };
}

export interface TabSharingOptions extends Omit<TabsOptions, "locks" | "channels"> {
  readonly locks: LockPort | undefined;
  readonly channels: ChannelPort | undefined;
}

/**
 * Shares one connection between all tabs of a browser. `undefined` where tabs can't share, as in old browsers and on insecure
 * origins: then each has its own, and `telemetry.unshared` is called.
 */
export function tabSharing(options: TabSharingOptions): Tabs | undefined {
  const locks = options.locks ?? pageLocks();
  const channels = options.channels ?? pageChannels();
  if (locks && channels) return createTabs({ ...options, locks, channels });
  options.telemetry.unshared?.();
  return undefined;
}

export interface LogRelayOptions {
  readonly tabId: string;
  /** Reads a log on this tab's own stream. */
  readonly openLog: (key: string, reader: LogReader) => () => void;
  /** As leader: sends a message to one other tab. */
  readonly postToTab: (tab: string, word: LogWord) => void;
  /** The logs that this tab shows changed, of which the leader must be notified. */
  readonly onChange: () => void;
}

interface ShownLog {
  readonly key: string;
  readonly reader: LogReader;
  /** As leader: closes it on this tab's own stream. */
  close: (() => void) | undefined;
}

/** The logs that tabs show: each is read on the leader's stream, for the leader itself or for the tab that shows it. */
export interface LogRelay {
  open(key: string, reader: LogReader): () => void;
  /** The logs that this tab shows, each with its cursor. */
  wanted(): readonly WantedLog[];
  lead(): void;
  follow(): void;
  /** As leader: sets the logs that another tab shows. */
  serve(tab: string, logs: readonly WantedLog[]): void;
  receive(message: LogMessage): void;
}

function createLogRelay(options: LogRelayOptions): LogRelay {
  const shown = new Map<string, ShownLog>();
  /** The logs of other tabs, by tab and then by the log's id. */
  const served = new Map<string, Map<string, () => void>>();
  let isLeader = false;
  let made = 0;

  function serveOne(tab: string, { id, key, cursor }: WantedLog): () => void {
    let reached = cursor;
    return options.openLog(key, {
      cursor: () => reached,
      entries(entries) {
        reached = entries.at(-1)?.id ?? reached;
        options.postToTab(tab, { kind: "log-entries", id, entries });
      },
      statusChanged: (status) => options.postToTab(tab, { kind: "log-status", id, status }),
    });
  }

  return {
    open(key, reader) {
      made += 1;
      const id = `${options.tabId}:${made}`;
      const log: ShownLog = { key, reader, close: isLeader ? options.openLog(key, reader) : undefined };
      shown.set(id, log);
      options.onChange();
      return () => {
        if (!shown.delete(id)) return;
        log.close?.();
        options.onChange();
      };
    },
    wanted: () => [...shown].map(([id, { key, reader }]) => ({ id, key, cursor: reader.cursor() })),
    lead() {
      isLeader = true;
      for (const log of shown.values()) log.close ??= options.openLog(log.key, log.reader);
    },
    follow() {
      isLeader = false;
      for (const log of shown.values()) {
        log.close?.();
        log.close = undefined;
      }
      for (const logs of served.values()) for (const close of logs.values()) close();
      served.clear();
    },
    serve(tab, logs) {
      const before = served.get(tab) ?? new Map<string, () => void>();
      const wanted = new Map(logs.map((log) => [log.id, log]));
      for (const [id, close] of before) {
        if (wanted.has(id)) continue;
        before.delete(id);
        close();
      }
      for (const [id, log] of wanted) if (!before.has(id)) before.set(id, serveOne(tab, log));
      if (before.size > 0) served.set(tab, before);
      else served.delete(tab);
    },
    receive(message) {
      const log = shown.get(message.id);
      if (!log || isLeader) return;
      if (message.kind === "log-entries") log.reader.entries(message.entries);
      else log.reader.statusChanged(message.status);
    },
  };
}
