import type { Clock } from "@throughline/ai-core";
import { createNamedTimers } from "../client/named-timers.js";
import type { FrameScheduler } from "../client/notifier.js";
import type { LogReader } from "../client/open-log.js";
import type { StoragePort } from "../client/storage.js";
import type { Telemetry } from "../client/telemetry.js";
import type { LineHooks, MovableLine, ThreadLine } from "../client/thread-line.js";
import type { Scheduler } from "../commands/scheduler-state.js";
import type { ToolDeclaration } from "../service/service-port.js";
import { createLeaderLock } from "./leader-lock.js";
import {
  type Leadership,
  type LeadershipEffect,
  type LeadershipInput,
  newcomer,
  stepLeadership,
} from "./leadership.js";
import { createLogRelay } from "./log-relay.js";
import { createOtherTabs } from "./other-tabs.js";
import type { ChannelPort, LockPort } from "./ports.js";
import { createSharedLines } from "./shared-lines.js";
import { createTabChannels } from "./tab-channels.js";
import type {
  FollowerMessage,
  FollowerWord,
  LeaderWord,
  LogMessage,
  TabMessage,
  Wants,
} from "./tab-message.js";

export interface TabsOptions {
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
export function createTabs(options: TabsOptions): Tabs {
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
