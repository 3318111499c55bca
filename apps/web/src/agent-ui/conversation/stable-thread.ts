"use client";

import type { CallView, Store, ThreadSnapshot, ThreadView } from "@throughline/agent-client";
import { shallowEqual, useThreadHandle } from "@throughline/agent-react";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { notifyInBatches } from "../primitives/notify-in-batches";

interface DerivedStore<T> extends Store<T> {
  /** `about`: the id of a message, run or tool call. The listener is called for changes of that one only. */
  subscribe(listener: () => void, about?: string): () => void;
}

/** Listeners with the id each one is about; `undefined`: any change. */
type Listeners = ReadonlyMap<() => void, string | undefined>;

/**
 * Derives a store from `read`, whose value changes only with `source`. It subscribes to `source` while it has listeners itself, and
 * has `notify` call them when the value has changed.
 */
function derivedStore<T>(
  source: Store<unknown>,
  read: () => T,
  notify: (listeners: Listeners, before: T, now: T) => void,
): DerivedStore<T> {
  const listeners = new Map<() => void, string | undefined>();
  let leave: (() => void) | undefined;
  let lastNotified: T;

  function onSourceChange(): void {
    const [before, now] = [lastNotified, read()];
    if (now === before) return;
    lastNotified = now;
    notify(listeners, before, now);
  }

  return {
    getSnapshot: read,
    subscribe(listener, about) {
      const own = () => listener();
      listeners.set(own, about);
      if (!leave) {
        leave = source.subscribe(onSourceChange);
        lastNotified = read();
      }
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        leave?.();
        leave = undefined;
      };
    },
  };
}

/** Calls by run, in the order the runs began: the run and all calls below it. */
export type CallsByRun = ReadonlyMap<string, readonly CallView[]>;

/** The calls of a thread grouped by run, with the list they come from. */
export interface GroupedCalls {
  readonly calls: readonly CallView[];
  readonly byRun: CallsByRun;
}

const NO_CALLS: GroupedCalls = { calls: [], byRun: new Map() };

/**
 * Groups calls by run, incrementally. Calls change at the end of their list, so only runs with calls after the first change since
 * `before` are grouped again. Every other run retains its list.
 */
export function callsByRun(calls: readonly CallView[], before: GroupedCalls = NO_CALLS): CallsByRun {
  const at = calls.findIndex((call, index) => call !== before.calls[index]);
  const first = at < 0 ? calls.length : at;
  const changed = new Map<string, CallView[]>();
  for (const list of [before.calls, calls])
    for (let index = first; index < list.length; index += 1) changed.set(list[index]?.runId ?? "", []);
  for (const call of calls) changed.get(call.runId)?.push(call);
  const byRun = new Map<string, readonly CallView[]>();
  for (const { runId } of calls) {
    if (byRun.has(runId)) continue;
    const known = before.byRun.get(runId);
    const now = changed.get(runId);
    if (known && (!now || isSame(known, now))) byRun.set(runId, known);
    else if (now) byRun.set(runId, now);
  }
  return byRun;
}

function isSame(before: readonly CallView[], now: readonly CallView[]): boolean {
  return before.length === now.length && now.every((call, at) => call === before[at]);
}

/** The tool call that a call belongs to, as the tool itself or as its subagent. */
export function toolCallIdOf({ kind, callId, toolCallId }: CallView): string | undefined {
  if (kind === "tool") return callId;
  return kind === "subgraph" ? toolCallId : undefined;
}

/** Ids of the runs whose calls changed, and of the tool calls made in those runs. */
export function changedRuns(before: CallsByRun, now: CallsByRun): readonly string[] {
  if (before === now) return [];
  const lists = [...new Set([...before.keys(), ...now.keys()])]
    .filter((runId) => before.get(runId) !== now.get(runId))
    .flatMap((runId) => [before.get(runId) ?? [], now.get(runId) ?? []]);
  return lists.flatMap((calls) => calls.flatMap((call) => [call.runId, toolCallIdOf(call) ?? call.runId]));
}

/** The part of a thread that a token does not change: without the text of streaming messages. */
export interface StableThread extends Pick<ThreadView, "messages" | "calls" | "run"> {
  /** The calls grouped by run. */
  readonly byRun: CallsByRun;
  /** Ids of the messages whose text is streaming. */
  readonly speaking: readonly string[];
}

const EMPTY_STABLE_THREAD: StableThread = {
  messages: [],
  calls: [],
  byRun: callsByRun([]),
  run: null,
  speaking: [],
};

const ofThread = new WeakMap<Store<ThreadSnapshot>, DerivedStore<StableThread>>();

/**
 * The store of a thread's stable part, for all components that do not show streaming text. With listeners on the thread itself, the
 * cost of a token would grow with the turns on the page; here it is one comparison, independent of the number of listeners. A
 * changed message, run or tool call costs as much as there are listeners about it.
 */
export function stableThread(thread: Store<ThreadSnapshot>): DerivedStore<StableThread> {
  const known = ofThread.get(thread);
  if (known) return known;
  let view: ThreadView | undefined;
  let stable = EMPTY_STABLE_THREAD;

  function read(): StableThread {
    const now = thread.getSnapshot().view;
    if (now === view) return stable;
    view = now;
    stable = toStable(stable, now);
    return stable;
  }

  const made = derivedStore(thread, read, notifyAffected);
  ofThread.set(thread, made);
  return made;
}

/** Projects a view to its stable part. Returns `before` itself when only text was added. */
function toStable(before: StableThread, { messages, calls, run, open }: ThreadView): StableThread {
  const speaking = open.flatMap(({ message, isSpeaking }) => (isSpeaking ? [message.id] : []));
  const isSameSpeaking = shallowEqual(before.speaking, speaking);
  const isSameCalls = before.calls === calls;
  if (isSameSpeaking && isSameCalls && before.messages === messages && before.run === run) return before;
  return {
    messages,
    calls,
    byRun: isSameCalls ? before.byRun : callsByRun(calls, before),
    run,
    speaking: isSameSpeaking ? before.speaking : speaking,
  };
}

function notifyAffected(listeners: Listeners, before: StableThread, now: StableThread): void {
  const changed = changedIds(before, now);
  for (const [listener, about] of [...listeners]) if (about === undefined || changed.has(about)) listener();
}

/** Ids of the changed messages, runs and tool calls. Always includes the newest message, which depends on the run's status too. */
function changedIds(before: StableThread, now: StableThread): ReadonlySet<string | undefined> {
  const changed = new Set<string | undefined>(changedRuns(before.byRun, now.byRun));
  if (before.speaking !== now.speaking)
    for (const id of [...before.speaking, ...now.speaking]) changed.add(id);
  // Both directions: a retracted result changes the row of its tool.
  for (const [one, other] of [
    [before.messages, now.messages],
    [now.messages, before.messages],
  ] as const)
    one.forEach((message, at) => {
      if (message !== other[at]) changed.add(message.id).add(message.toolCallId);
    });
  changed.add(before.messages.at(-1)?.id).add(now.messages.at(-1)?.id);
  return changed;
}

const busyOfThread = new WeakMap<Store<ThreadSnapshot>, Store<boolean>>();

/**
 * Whether a run is active, for the buttons that every message shows. A run that begins or ends changes as many buttons as there are
 * messages, so listeners are called in batches, and not in the frame that shows the change. (A deferred context would not work:
 * React visits all of its consumers in one pass.)
 */
function threadBusy(thread: Store<ThreadSnapshot>): Store<boolean> {
  const known = busyOfThread.get(thread);
  if (known) return known;
  const stable = stableThread(thread);
  const read = () => stable.getSnapshot().run?.status === "running";
  const made = derivedStore(stable, read, (listeners) => setTimeout(notifyInBatches, 0, listeners));
  busyOfThread.set(thread, made);
  return made;
}

export function useIsThreadBusy(): boolean {
  const store = threadBusy(useThreadHandle());
  return useSyncExternalStore(store.subscribe, store.getSnapshot, notBusy);
}

const notBusy = () => false;

/** Selects from the stable part of the thread; never runs while only text streams. `select` must be stable between renders. */
export function useStableThread<T>(
  select: (stable: StableThread) => T,
  isEqual?: (a: T, b: T) => boolean,
): T {
  return useStable(undefined, select, isEqual);
}

/** Selects data of one message, run or tool call; runs only when that one changed. `select` must be stable between renders. */
export function useStablePart<T>(
  id: string,
  select: (stable: StableThread, id: string) => T,
  isEqual?: (a: T, b: T) => boolean,
): T {
  return useStable(
    id,
    useCallback((stable: StableThread) => select(stable, id), [select, id]),
    isEqual,
  );
}

function useStable<T>(
  about: string | undefined,
  select: (stable: StableThread) => T,
  isEqual: (a: T, b: T) => boolean = Object.is,
): T {
  const store = stableThread(useThreadHandle());
  const subscribe = useCallback((listener: () => void) => store.subscribe(listener, about), [store, about]);
  const [read, readOnServer] = useMemo(() => {
    let last: { readonly stable: StableThread; readonly value: T } | undefined;
    function read(stable: StableThread): T {
      if (last?.stable === stable) return last.value;
      const next = select(stable);
      last = { stable, value: last && isEqual(last.value, next) ? last.value : next };
      return last.value;
    }
    return [() => read(store.getSnapshot()), () => read(EMPTY_STABLE_THREAD)];
  }, [store, select, isEqual]);
  return useSyncExternalStore(subscribe, read, readOnServer);
}
