"use client";

import type { CallView, Store, ThreadSnapshot, ThreadView } from "@throughline/agent-client";
import { shallowEqual, useThreadHandle } from "@throughline/agent-react";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { tellFew } from "../primitives/notify-in-batches";

interface DerivedStore<T> extends Store<T> {
  /** `about`: the id of a message, run or tool call, for a listener that shows nothing else. */
  subscribe(listener: () => void, about?: string): () => void;
}

/** By listener, what it is about; `undefined`: anything. */
type Listeners = ReadonlyMap<() => void, string | undefined>;

/**
 * A store of what `read` gives, which changes with `source` alone. It listens to `source` while it has listeners itself, and
 * has `tell` call them when the value is another.
 */
function derivedStore<T>(
  source: Store<unknown>,
  read: () => T,
  tell: (listeners: Listeners, before: T, now: T) => void,
): DerivedStore<T> {
  const listeners = new Map<() => void, string | undefined>();
  let leave: (() => void) | undefined;
  let told: T;

  function notice(): void {
    const [before, now] = [told, read()];
    if (now === before) return;
    told = now;
    tell(listeners, before, now);
  }

  return {
    getSnapshot: read,
    subscribe(listener, about) {
      const own = () => listener();
      listeners.set(own, about);
      if (!leave) {
        leave = source.subscribe(notice);
        told = read();
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

/** By run, in the order they began: the run and all its work. */
export type CallsByRun = ReadonlyMap<string, readonly CallView[]>;

/** The calls of a thread, with the list that they were read from. */
export interface GroupedCalls {
  readonly calls: readonly CallView[];
  readonly byRun: CallsByRun;
}

const NO_CALLS: GroupedCalls = { calls: [], byRun: new Map() };

/**
 * Calls change at the end of their list, so only the runs that have some behind the first change since `before` are read again.
 * Those of every other run keep their list.
 */
export function callsByRun(calls: readonly CallView[], before: GroupedCalls = NO_CALLS): CallsByRun {
  const at = calls.findIndex((call, place) => call !== before.calls[place]);
  const first = at < 0 ? calls.length : at;
  const changed = new Map<string, CallView[]>();
  for (const list of [before.calls, calls])
    for (let place = first; place < list.length; place += 1) changed.set(list[place]?.runId ?? "", []);
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

/** The tool call that a call is the work of: of the tool itself, or of the subagent behind it. */
export function toolCallIdOf({ kind, callId, toolCallId }: CallView): string | undefined {
  if (kind === "tool") return callId;
  return kind === "subgraph" ? toolCallId : undefined;
}

/** The runs whose calls changed, and the tool calls that were made in those. */
export function changedRuns(before: CallsByRun, now: CallsByRun): readonly string[] {
  if (before === now) return [];
  const lists = [...new Set([...before.keys(), ...now.keys()])]
    .filter((runId) => before.get(runId) !== now.get(runId))
    .flatMap((runId) => [before.get(runId) ?? [], now.get(runId) ?? []]);
  return lists.flatMap((calls) => calls.flatMap((call) => [call.runId, toolCallIdOf(call) ?? call.runId]));
}

/** A thread without the text that streams: what a token leaves as it is. Of messages under way, the text is not in here. */
export interface SettledThread extends Pick<ThreadView, "messages" | "calls" | "run"> {
  /** The calls, where one run's are asked for. */
  readonly byRun: CallsByRun;
  /** Ids of the messages whose text is under way. */
  readonly speaking: readonly string[];
}

const NOTHING_SETTLED: SettledThread = {
  messages: [],
  calls: [],
  byRun: callsByRun([]),
  run: null,
  speaking: [],
};

const ofThread = new WeakMap<Store<ThreadSnapshot>, DerivedStore<SettledThread>>();

/**
 * For all that shows what has settled. With listeners of the thread itself, a token would cost as much as there are turns on
 * the page; here it costs one comparison, however many listen. A message, run or tool call that changes costs as much as there
 * are listeners about it.
 */
export function settledThread(thread: Store<ThreadSnapshot>): DerivedStore<SettledThread> {
  const known = ofThread.get(thread);
  if (known) return known;
  let view: ThreadView | undefined;
  let settled = NOTHING_SETTLED;

  function read(): SettledThread {
    const now = thread.getSnapshot().view;
    if (now === view) return settled;
    view = now;
    settled = settle(settled, now);
    return settled;
  }

  const made = derivedStore(thread, read, tellConcerned);
  ofThread.set(thread, made);
  return made;
}

/** The very same as `before` when nothing but text came. */
function settle(before: SettledThread, { messages, calls, run, open }: ThreadView): SettledThread {
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

function tellConcerned(listeners: Listeners, before: SettledThread, now: SettledThread): void {
  const changed = changedIds(before, now);
  for (const [listener, about] of [...listeners]) if (about === undefined || changed.has(about)) listener();
}

/** The messages, runs and tool calls of which something changed. Of the newest message, how its run stands counts as well. */
function changedIds(before: SettledThread, now: SettledThread): ReadonlySet<string | undefined> {
  const changed = new Set<string | undefined>(changedRuns(before.byRun, now.byRun));
  if (before.speaking !== now.speaking)
    for (const id of [...before.speaking, ...now.speaking]) changed.add(id);
  // Of both lists: a result that was taken back concerns the line of its tool.
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
 * Whether a run is under way, for what every answer of the thread shows. A run that begins or ends changes as many buttons as
 * there are answers, so listeners are called a few at a time, and not in the frame that shows it. (A deferred context would
 * not do: React looks for its consumers in one go.)
 */
function threadBusy(thread: Store<ThreadSnapshot>): Store<boolean> {
  const known = busyOfThread.get(thread);
  if (known) return known;
  const settled = settledThread(thread);
  const read = () => settled.getSnapshot().run?.status === "running";
  const made = derivedStore(settled, read, (listeners) => setTimeout(tellFew, 0, listeners));
  busyOfThread.set(thread, made);
  return made;
}

export function useIsThreadBusy(): boolean {
  const store = threadBusy(useThreadHandle());
  return useSyncExternalStore(store.subscribe, store.getSnapshot, notBusy);
}

const notBusy = () => false;

/** A part of what has settled: never asked for while nothing but text comes. Keep `select` the same between renders. */
export function useSettledThread<T>(
  select: (settled: SettledThread) => T,
  isEqual?: (a: T, b: T) => boolean,
): T {
  return useSettled(undefined, select, isEqual);
}

/** What has settled of one message, run or tool call: asked for only when something of that one changed. */
export function useSettledPart<T>(
  id: string,
  select: (settled: SettledThread, id: string) => T,
  isEqual?: (a: T, b: T) => boolean,
): T {
  return useSettled(
    id,
    useCallback((settled: SettledThread) => select(settled, id), [select, id]),
    isEqual,
  );
}

function useSettled<T>(
  about: string | undefined,
  select: (settled: SettledThread) => T,
  isEqual: (a: T, b: T) => boolean = Object.is,
): T {
  const store = settledThread(useThreadHandle());
  const subscribe = useCallback((listener: () => void) => store.subscribe(listener, about), [store, about]);
  const [read, readOnServer] = useMemo(() => {
    let last: { readonly settled: SettledThread; readonly value: T } | undefined;
    function read(settled: SettledThread): T {
      if (last?.settled === settled) return last.value;
      const next = select(settled);
      last = { settled, value: last && isEqual(last.value, next) ? last.value : next };
      return last.value;
    }
    return [() => read(store.getSnapshot()), () => read(NOTHING_SETTLED)];
  }, [store, select, isEqual]);
  return useSyncExternalStore(subscribe, read, readOnServer);
}
