import type { Clock } from "@throughline/ai-core";
import { createNamedTimers } from "../client/named-timers.js";
import type { Telemetry } from "../client/telemetry.js";
import type { LineHooks, ThreadLine } from "../client/thread-line.js";
import type { ToolDeclaration } from "../service/service-port.js";
import {
  type Leadership,
  type LeadershipEffect,
  type LeadershipInput,
  newcomer,
  stepLeadership,
} from "./leadership.js";
import type { ChannelPort, LockPort } from "./ports.js";
import { createSharedLine, type SharedLine } from "./shared-line.js";
import type { FollowerMessage, LeaderMessage, TabMessage, Wants } from "./tab-message.js";

export interface TabsOptions {
  readonly locks: LockPort;
  readonly channels: ChannelPort;
  /** The same for tabs that share: one service, one account. */
  readonly scope: string;
  readonly tabId: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly createLine: (key: string, hooks: LineHooks) => ThreadLine;
  /** What this tab needs. */
  readonly wants: () => Wants;
  /** What the others need of this tab changed. */
  readonly onWanted: () => void;
}

export interface Tabs {
  line(key: string, hooks: LineHooks): ThreadLine;
  /** Threads the others want this tab to ask about: none, unless it leads. */
  watched(): readonly string[];
  /** This tab's tools, and those of the others: by name, whichever tab offers it. */
  offered(own: readonly ToolDeclaration[]): readonly ToolDeclaration[];
  wantsChanged(): void;
  visible(): void;
  frozen(isFrozen: boolean): void;
  close(): void;
}

const UNHOOKED: LineHooks = { onChange() {}, onShown() {} };

/** The tabs of one browser as one client: performs what leadership decides, and passes words between lines. */
export function createTabs(options: TabsOptions): Tabs {
  const { locks, clock, scope, tabId } = options;
  let leadership: Leadership = newcomer;
  let closed = false;
  let queued: AbortController | undefined;
  let abdicate: (() => void) | undefined;
  const lines = new Map<string, SharedLine>();
  const hooksOf = new Map<string, LineHooks>();
  const others = new Map<string, { readonly open: readonly string[]; readonly wants: Wants }>();
  const leaving = new AbortController();
  const timers = createNamedTimers<"due">(clock, () => step({ kind: "due" }));
  const channel = options.channels.open(`${scope}:tabs`, (message) => {
    // Only this client's own tabs know the name.
    if (!closed) hear(message as TabMessage);
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
      case "lead":
        tellOthers({ kind: "leads" });
        for (const line of lines.values()) line.lead();
        break;
      case "follow":
        others.clear();
        options.onWanted();
        for (const line of lines.values()) line.follow();
        askLeader();
        break;
      case "timer":
        timers.set("due", effect.at === undefined ? undefined : effect.at - clock.now());
        break;
    }
  }

  function requestLock(steal: boolean): void {
    queued?.abort();
    const own = new AbortController();
    queued = own;
    let isHeld = false;
    const request = locks.request(`${scope}:leader`, { steal, signal: own.signal }, () => {
      if (closed) return Promise.resolve();
      isHeld = true;
      return new Promise<void>((resolve) => {
        abdicate = resolve;
        step({ kind: "granted" });
      });
    });
    void request.catch(() => {
      if (isHeld) step({ kind: "lost" });
    });
  }

  function tellOthers(word: Omit<LeaderMessage, "epoch">): void {
    channel.post({ ...word, epoch: leadership.epoch });
  }

  function askLeader(): void {
    if (leadership.role === "leader") return;
    const open = [...lines].filter(([, line]) => line.isOpenHere()).map(([key]) => key);
    const message: FollowerMessage = { kind: "ask-leader", from: tabId, open, wants: options.wants() };
    channel.post(message);
  }

  function hear(message: TabMessage): void {
    if ("from" in message) {
      if (leadership.role === "leader") serve(message);
      return;
    }
    if (message.epoch < leadership.epoch) return void options.telemetry.staleDropped?.(1);
    step({ kind: "heard", epoch: message.epoch });
    if (message.kind !== "leads") lines.get(message.key)?.hear(message);
  }

  function serve(message: FollowerMessage): void {
    switch (message.kind) {
      case "ask-leader":
        know(message);
        tellOthers({ kind: "leads" });
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

  function know({ from, open, wants }: Extract<FollowerMessage, { kind: "ask-leader" }>): void {
    const isNew = !others.has(from);
    others.set(from, { open, wants });
    for (const key of open) lineOf(key);
    updateLines();
    if (!isNew) return;
    // Its own lock is free when it is gone, however it went.
    const gone = locks.request(tabLock(from), { signal: leaving.signal }, async () => forget(from));
    void gone.catch(() => {});
  }

  function forget(tab: string): void {
    if (others.delete(tab)) updateLines();
  }

  function updateLines(): void {
    const open = new Set([...others.values()].flatMap((other) => other.open));
    for (const [key, line] of lines) line.openElsewhere(open.has(key));
    options.onWanted();
  }

  function tabLock(tab: string): string {
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
      onOpen: askLeader,
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
    watched: () => [...others.values()].flatMap(({ wants }) => wants.watched),
    offered(own) {
      const all = [...[...others.values()].flatMap(({ wants }) => wants.tools), ...own];
      return [...new Map(all.map((tool) => [tool.name, tool])).values()];
    },
    wantsChanged: askLeader,
    visible: () => step({ kind: "visible" }),
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
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}
