import type { Clock } from "@throughline/ai-core";
import { createNamedTimers, type Telemetry } from "../client/environment.js";
import type { FrameScheduler } from "../client/store.js";
import type { LineHooks, MovableLine, ThreadLine } from "../client/thread-controller.js";
import type { StoragePort } from "../commands/pending-sync.js";
import type { Scheduler } from "../commands/scheduler-state.js";
import type { LogReader } from "../connection/thread-stream.js";
import type { ToolDeclaration } from "../transport/agent-service.js";
import { createLeaderLock } from "./leader-lock.js";
import {
  type Leadership,
  type LeadershipEffect,
  type LeadershipInput,
  newcomer,
  stepLeadership,
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
  /** When frames are told that were shown until then. */
  readonly schedule: FrameScheduler;
  readonly telemetry: Telemetry;
  readonly createLine: (key: string, hooks: LineHooks) => MovableLine;
  /** Reads a thread's log on this tab's own stream. */
  readonly openLog: (key: string, reader: LogReader) => () => void;
  /** What this tab needs. */
  readonly wants: () => Wants;
  /** What the others need of this tab changed. */
  readonly onWanted: () => void;
}

export interface Tabs {
  line(key: string, hooks: LineHooks): ThreadLine;
  /** Reads a thread's log, on whichever tab's stream, until what it returns is called. */
  openLog(key: string, reader: LogReader): () => void;
  /** Threads the others want this tab to ask about: none, unless it leads. */
  watched(): readonly string[];
  /** Whether another tab needs this one to hold the thread. */
  isWanted(key: string): boolean;
  /** This tab does not show the thread any more. */
  letGo(key: string): void;
  /** This tab's tools, and those of the others: by name, whichever tab offers it. */
  offered(own: readonly ToolDeclaration[]): readonly ToolDeclaration[];
  wantsChanged(): void;
  seen(isVisible: boolean): void;
  frozen(isFrozen: boolean): void;
  close(): void;
}

/** The tabs of one browser as one client: performs what leadership decides, and passes words between lines. */
function createTabs(options: TabsOptions): Tabs {
  const { clock, tabId } = options;
  let leadership: Leadership = newcomer;
  let closed = false;
  /** What a leader gave away last, for whichever tab leads next. */
  let handed: { readonly epoch: number; readonly commands: Readonly<Record<string, Scheduler>> } | undefined;
  const timers = createNamedTimers<"due">(clock, () => step({ kind: "due" }));
  const lock = createLeaderLock({
    ...options,
    onGranted: (after) => step({ kind: "granted", after }),
    onLost: () => step({ kind: "lost" }),
    onGone: forget,
  });
  const channels = createTabChannels({ ...options, hear, hearOfLog });
  const others = createOtherTabs();
  const lines = createSharedLines({
    createLine: options.createLine,
    isLeader: () => leadership.role === "leader",
    isWanted: others.isWanted,
    tell: tellOthers,
    // Browsers hold back the timers of a hidden tab: what it shows, it tells at once.
    soon: (callback) => void (leadership.isVisible ? options.schedule(callback) : callback()),
    ask,
    onOpen: () => askLeader("with-offers"),
  });
  const logs = createLogRelay({
    tabId,
    openLog: options.openLog,
    onChange: () => askLeader(),
    tellTab: (tab, word) => channels.tellTab(tab, { ...word, epoch: leadership.epoch }),
  });

  function step(input: LeadershipInput): void {
    if (closed) return;
    const [next, effects] = stepLeadership(leadership, input, clock.now());
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
        tellLeads();
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
        // How threads stand here is told before anything is asked of them: a leader that is new to them goes on from that.
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
    lock.keepEpoch(leadership.epoch);
    tellLeads();
    for (const key of Object.keys(commands)) lines.line(key);
    for (const [key, line] of lines.all) line.lead(commands[key]);
    logs.lead();
  }

  /** What is shown was told before this, so whichever tab leads next goes on exactly here. */
  function yieldTo(to: string | undefined): void {
    const given = [...lines.all].flatMap(([key, line]) => {
      const commands = line.yield();
      return commands ? [[key, commands] as const] : [];
    });
    handed = { epoch: leadership.epoch, commands: Object.fromEntries(given) };
    tellOthers({ kind: "yields", to, handed: handed.commands });
    follow();
  }

  function follow(): void {
    others.clear();
    logs.follow();
    options.onWanted();
    for (const line of lines.all.values()) line.follow();
  }

  function tellLeads(): void {
    tellOthers({ kind: "leads", isHidden: !leadership.isVisible });
  }

  function tellOthers(word: LeaderWord): void {
    channels.tellAll({ ...word, epoch: leadership.epoch });
  }

  function ask(word: FollowerWord): void {
    channels.tellAll({ ...word, from: tabId });
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

  function hear(message: TabMessage): void {
    if ("from" in message) {
      if (leadership.role === "leader") serve(message);
      return;
    }
    if (isLate(message)) return;
    if (handed && message.epoch > handed.epoch) handed = undefined;
    const { kind, epoch } = message;
    step({ kind: "heard", epoch, ...(kind === "leads" && { isHidden: message.isHidden }) });
    if (kind === "yields") {
      handed = { epoch, commands: message.handed };
      if (message.to === tabId) step({ kind: "yielded", epoch });
    } else if (kind !== "leads") lines.all.get(message.key)?.hear(message);
  }

  function hearOfLog(message: LogMessage): void {
    if (isLate(message)) return;
    step({ kind: "heard", epoch: message.epoch });
    logs.hear(message);
  }

  /** Of a leader that another has followed. */
  function isLate({ epoch }: { readonly epoch: number }): boolean {
    const isOld = epoch < leadership.epoch;
    if (isOld) options.telemetry.staleDropped?.(1);
    return isOld;
  }

  function serve(message: FollowerMessage): void {
    switch (message.kind) {
      case "ask-leader":
        know(message);
        tellLeads();
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

  // Whoever made us is not ready to be called back yet.
  queueMicrotask(() => step({ kind: "start" }));

  return {
    line: lines.show,
    isWanted: others.isWanted,
    letGo: lines.letGo,
    watched: others.watched,
    offered: others.toolsBeside,
    openLog: logs.open,
    wantsChanged: () => askLeader(),
    seen: (isVisible) => step({ kind: "seen", isVisible }),
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

export interface LogRelayOptions {
  readonly tabId: string;
  /** Reads a log on this tab's own stream. */
  readonly openLog: (key: string, reader: LogReader) => () => void;
  /** As leader: tells one other tab. */
  readonly tellTab: (tab: string, word: LogWord) => void;
  /** The leader has to be told what this tab shows. */
  readonly onChange: () => void;
}

interface ShownLog {
  readonly key: string;
  readonly reader: LogReader;
  /** As leader: closes it on this tab's own stream. */
  close: (() => void) | undefined;
}

/** Logs that tabs show: each is read on the leader's stream, by who shows it or for them. */
export interface LogRelay {
  open(key: string, reader: LogReader): () => void;
  /** What this tab shows, and how far it has come. */
  wanted(): readonly WantedLog[];
  lead(): void;
  follow(): void;
  /** As leader: what another tab shows. */
  serve(tab: string, logs: readonly WantedLog[]): void;
  hear(message: LogMessage): void;
}

function createLogRelay(options: LogRelayOptions): LogRelay {
  const shown = new Map<string, ShownLog>();
  /** Of other tabs, by tab and then by the log's id. */
  const served = new Map<string, Map<string, () => void>>();
  let isLeader = false;
  let made = 0;

  function serveOne(tab: string, { id, key, cursor }: WantedLog): () => void {
    let reached = cursor;
    return options.openLog(key, {
      cursor: () => reached,
      entries(entries) {
        reached = entries.at(-1)?.id ?? reached;
        options.tellTab(tab, { kind: "log-entries", id, entries });
      },
      statusChanged: (status) => options.tellTab(tab, { kind: "log-status", id, status }),
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
    hear(message) {
      const log = shown.get(message.id);
      if (!log || isLeader) return;
      if (message.kind === "log-entries") log.reader.entries(message.entries);
      else log.reader.statusChanged(message.status);
    },
  };
}
