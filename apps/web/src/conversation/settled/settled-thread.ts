import type { Store, ThreadSnapshot, ThreadView } from "@throughline/agent-client";
import { shallowEqual } from "@throughline/agent-react";
import { type CallsByRun, callsByRun, changedRuns } from "./calls-by-run";
import { type DerivedStore, derivedStore, type Listeners } from "./derived-store";

/** A thread without the text that streams: what a token leaves as it is. Of messages under way, the text is not in here. */
export interface SettledThread extends Pick<ThreadView, "messages" | "calls" | "run"> {
  /** The calls, where one run's are asked for. */
  readonly byRun: CallsByRun;
  /** Ids of the messages whose text is under way. */
  readonly speaking: readonly string[];
}

export const NOTHING_SETTLED: SettledThread = {
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
