import type { Clock } from "@throughline/ai-core";
import { isPending } from "../client/command-shell.js";
import { createNamedTimers } from "../client/named-timers.js";
import type { LogReader } from "../client/open-log.js";
import type { StoragePort } from "../client/storage.js";
import type { Telemetry } from "../client/telemetry.js";
import type { LineHooks, ThreadLine } from "../client/thread-line.js";
import type { Scheduler } from "../commands/scheduler-state.js";
import type { ToolDeclaration } from "../service/service-port.js";
import {
  type Leadership,
  type LeadershipEffect,
  type LeadershipInput,
  newcomer,
  stepLeadership,
} from "./leadership.js";
import { createLogRelay } from "./log-relay.js";
import type { Channel, ChannelPort, LockPort } from "./ports.js";
import { createSharedLine, type LeaderWord, type SharedLine } from "./shared-line.js";
import type { FollowerMessage, LogMessage, TabMessage, Wants } from "./tab-message.js";

export interface TabsOptions {
  readonly locks: LockPort;
  readonly channels: ChannelPort;
  /** Keeps the last leader's epoch for a tab that has heard of none. */
  readonly storage: StoragePort | undefined;
  /** The same for tabs that share: one service, one account. */
  readonly scope: string;
  readonly tabId: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly createLine: (key: string, hooks: LineHooks) => ThreadLine;
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

/** More words than a line has in its life. */
const SEQ_STEP = 2 ** 32;

const UNHOOKED: LineHooks = { onChange() {}, onShown() {} };

/** The tabs of one browser as one client: performs what leadership decides, and passes words between lines. */
export function createTabs(options: TabsOptions): Tabs {
  const { locks, clock, scope, tabId } = options;
  let leadership: Leadership = newcomer;
  let closed = false;
  let lives = 0;
  let queued: AbortController | undefined;
  /** Of the lock that is held. */
  let held: AbortController | undefined;
  let abdicate: (() => void) | undefined;
  /** What a leader gave away last, for whichever tab leads next. */
  let handed: { readonly epoch: number; readonly commands: Readonly<Record<string, Scheduler>> } | undefined;
  const lines = new Map<string, SharedLine>();
  const hooksOf = new Map<string, LineHooks>();
  const others = new Map<string, { readonly open: readonly string[]; readonly wants: Wants }>();
  const leaving = new AbortController();
  const timers = createNamedTimers<"due">(clock, () => step({ kind: "due" }));
  const channel = options.channels.open(`${scope}:tabs`, (message) => {
    // Only this client's own tabs know the name.
    if (!closed) hear((typeof message === "string" ? JSON.parse(message) : message) as TabMessage);
  });
  // Logs are long: they go to the tab that shows them and to no other.
  const ownChannel = options.channels.open(channelOf(tabId), (message) => {
    if (!closed) hearOfLog(message as LogMessage);
  });
  const channelsTo = new Map<string, Channel>();
  const logs = createLogRelay({
    tabId,
    openLog: options.openLog,
    onChange: () => askLeader(),
    tellTab(tab, word) {
      const to = channelsTo.get(tab) ?? options.channels.open(channelOf(tab), () => {});
      channelsTo.set(tab, to);
      to.post({ ...word, epoch: leadership.epoch });
    },
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
        requestLock(effect.steal);
        break;
      case "leave-lock":
        queued?.abort();
        abdicate?.();
        break;
      case "ask":
        askLeader();
        break;
      case "tell":
        tellLeads();
        break;
      case "claim":
        channel.post({ kind: "claim", from: tabId } satisfies FollowerMessage);
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
        timers.set("due", effect.at === undefined ? undefined : effect.at - clock.now());
        break;
    }
  }

  function lead(): void {
    const commands = handed?.commands ?? {};
    handed = undefined;
    keepEpoch();
    tellLeads();
    for (const key of Object.keys(commands)) lineOf(key);
    for (const [key, line] of lines) line.lead(commands[key]);
    logs.lead();
  }

  /** What is shown was told before this, so whichever tab leads next goes on exactly here. */
  function yieldTo(to: string | undefined): void {
    const given = [...lines].flatMap(([key, line]) => {
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
    for (const line of lines.values()) line.follow();
  }

  function requestLock(steal: boolean): void {
    queued?.abort();
    const own = new AbortController();
    queued = own;
    const request = locks.request(`${scope}:leader`, { steal, signal: own.signal }, () => {
      if (closed) return Promise.resolve();
      held = own;
      return new Promise<void>((resolve) => {
        abdicate = resolve;
        step({ kind: "granted", after: lastEpoch() });
      });
    });
    void request.catch(() => {
      // One that this tab took from itself is not lost.
      if (held === own) step({ kind: "lost" });
    });
  }

  function lastEpoch(): number {
    try {
      return Number(options.storage?.getItem(`${scope}:epoch`)) || 0;
    } catch {
      return 0;
    }
  }

  function keepEpoch(): void {
    try {
      options.storage?.setItem(`${scope}:epoch`, String(leadership.epoch));
    } catch {
      // Full or forbidden: time alone has to do.
    }
  }

  function tellLeads(): void {
    tellOthers({ kind: "leads", isHidden: !leadership.isVisible });
  }

  function tellOthers(word: LeaderWord): void {
    const message = { ...word, epoch: leadership.epoch };
    // Frames are by far the most, and plain JSON: as text they cost a tab that follows a fraction of a structured copy.
    const isText = message.kind === "shown" && message.input.kind === "frames";
    channel.post(isText ? JSON.stringify(message) : message);
  }

  function askLeader(how?: "with-offers"): void {
    if (leadership.role === "leader" || closed) return;
    const open = [...lines].filter(([, line]) => line.isOpenHere());
    const offers = open.flatMap(([key, line]) => {
      const offer = how && line.offer();
      return offer ? [{ key, ...offer }] : [];
    });
    const message: FollowerMessage = {
      kind: "ask-leader",
      from: tabId,
      open: open.map(([key]) => key),
      wants: options.wants(),
      logs: logs.wanted(),
      offers,
    };
    channel.post(message);
  }

  function hear(message: TabMessage): void {
    if ("from" in message) {
      if (leadership.role === "leader") serve(message);
      return;
    }
    if (message.epoch < leadership.epoch) return void options.telemetry.staleDropped?.(1);
    if (handed && message.epoch > handed.epoch) handed = undefined;
    switch (message.kind) {
      case "leads":
        step({ kind: "heard", epoch: message.epoch, isHidden: message.isHidden });
        break;
      case "yields":
        step({ kind: "heard", epoch: message.epoch });
        handed = { epoch: message.epoch, commands: message.handed };
        if (message.to === tabId) step({ kind: "yielded", epoch: message.epoch });
        break;
      default:
        step({ kind: "heard", epoch: message.epoch });
        lines.get(message.key)?.hear(message);
    }
  }

  function hearOfLog(message: LogMessage): void {
    if (message.epoch < leadership.epoch) return void options.telemetry.staleDropped?.(1);
    step({ kind: "heard", epoch: message.epoch });
    logs.hear(message);
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
      case "answered":
        lineOf(message.key).answered(message.id, message.answer);
        break;
      case "ask-snapshot":
        lineOf(message.key).tellSnapshot();
        break;
      case "submit":
        lineOf(message.key).submitFor(message.command);
        break;
      case "discard":
        lineOf(message.key).discard(message.messageId);
        break;
      case "reconnect":
        lineOf(message.key).reconnect();
        break;
      case "leaves":
        forget(message.from);
        break;
    }
  }

  function know({
    from,
    open,
    wants,
    logs: wanted,
    offers,
  }: Extract<FollowerMessage, { kind: "ask-leader" }>): void {
    const isNew = !others.has(from);
    others.set(from, { open, wants });
    for (const key of open) lineOf(key);
    for (const { key, view, cursor } of offers) lineOf(key).takeOffer(view, cursor);
    updateLines();
    logs.serve(from, wanted);
    if (!isNew) return;
    // Its own lock is free when it is gone, however it went.
    const gone = locks.request(tabLock(from), { signal: leaving.signal }, async () => forget(from));
    void gone.catch(() => {});
  }

  function forget(tab: string): void {
    logs.serve(tab, []);
    channelsTo.get(tab)?.close();
    channelsTo.delete(tab);
    if (others.delete(tab)) updateLines();
  }

  function updateLines(): void {
    const open = new Set([...others.values()].flatMap((other) => other.open));
    for (const [key, line] of lines) {
      line.openElsewhere(open.has(key));
      dropUnused(key, line);
    }
    options.onWanted();
  }

  function isWanted(key: string): boolean {
    return [...others.values()].some(({ open, wants }) => open.includes(key) || wants.watched.includes(key));
  }

  /** A thread that was held for another tab alone, which needs it no more. */
  function dropUnused(key: string, line: SharedLine): void {
    if (hooksOf.has(key) || isWanted(key) || isPending(line.pending())) return;
    lines.delete(key);
    line.close();
  }

  function tabLock(tab: string): string {
    return `${scope}:tab:${tab}`;
  }

  function channelOf(tab: string): string {
    return `${scope}:tab:${tab}`;
  }

  function lineOf(key: string): SharedLine {
    const known = lines.get(key);
    if (known) return known;
    const hooks = (): LineHooks => hooksOf.get(key) ?? UNHOOKED;
    const post = (message: FollowerMessage) => channel.post(message);
    const line = createSharedLine({
      key,
      onChange: () => hooks().onChange(),
      onShown: (input) => hooks().onShown(input),
      createLine: (own) => options.createLine(key, own),
      tell: tellOthers,
      askForSnapshot: () => post({ kind: "ask-snapshot", from: tabId, key }),
      askToSubmit: (command) => post({ kind: "submit", from: tabId, key, command }),
      askToDiscard: (messageId) => post({ kind: "discard", from: tabId, key, messageId }),
      askToReconnect: () => post({ kind: "reconnect", from: tabId, key }),
      passAnswer(id, answer) {
        if (!closed) post({ kind: "answered", from: tabId, key, id, answer });
      },
      onOpen: () => askLeader("with-offers"),
      firstSeq() {
        lives += 1;
        return lives * SEQ_STEP;
      },
    });
    lines.set(key, line);
    if (leadership.role === "leader") line.lead();
    else line.follow();
    return line;
  }

  // Held for as long as this tab lives.
  void locks
    .request(tabLock(tabId), { signal: leaving.signal }, () => untilAborted(leaving.signal))
    .catch(() => {});
  // Whoever made us is not ready to be called back yet.
  queueMicrotask(() => step({ kind: "start" }));

  return {
    line(key, hooks) {
      hooksOf.set(key, hooks);
      return lineOf(key);
    },
    isWanted,
    letGo(key) {
      hooksOf.delete(key);
      const line = lines.get(key);
      if (line) dropUnused(key, line);
    },
    watched: () => [...others.values()].flatMap(({ wants }) => wants.watched),
    offered(own) {
      const all = [...[...others.values()].flatMap(({ wants }) => wants.tools), ...own];
      return [...new Map(all.map((tool) => [tool.name, tool])).values()];
    },
    openLog: logs.open,
    wantsChanged: () => askLeader(),
    seen: (isVisible) => step({ kind: "seen", isVisible }),
    frozen: (isFrozen) => step({ kind: "frozen", isFrozen }),
    close() {
      if (leadership.role === "follower")
        channel.post({ kind: "leaves", from: tabId } satisfies FollowerMessage);
      closed = true;
      timers.clearAll();
      leaving.abort();
      queued?.abort();
      abdicate?.();
      channel.close();
      ownChannel.close();
      for (const to of channelsTo.values()) to.close();
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}
