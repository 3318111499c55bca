import type { Store, ThreadSnapshot, ThreadView } from "@throughline/agent-client";
import { shallowEqual } from "@throughline/agent-react";

/** A thread without the text that streams: what a token leaves as it is. Of messages under way, the text is not in here. */
export interface SettledThread extends Pick<ThreadView, "messages" | "calls" | "run"> {
  /** Ids of the messages whose text is under way. */
  readonly speaking: readonly string[];
}

export const NOTHING_SETTLED: SettledThread = { messages: [], calls: [], run: null, speaking: [] };

const ofThread = new WeakMap<Store<ThreadSnapshot>, Store<SettledThread>>();

/**
 * For all that shows what has settled. With listeners of the thread itself, a token would cost as much as there are turns on
 * the page; here it costs one comparison, whoever listens.
 */
export function settledThread(thread: Store<ThreadSnapshot>): Store<SettledThread> {
  const known = ofThread.get(thread);
  if (known) return known;
  const made = makeStore(thread);
  ofThread.set(thread, made);
  return made;
}

function makeStore(thread: Store<ThreadSnapshot>): Store<SettledThread> {
  const listeners = new Set<() => void>();
  let leave: (() => void) | undefined;
  let view: ThreadView | undefined;
  let settled = NOTHING_SETTLED;

  function read(): SettledThread {
    const now = thread.getSnapshot().view;
    if (now === view) return settled;
    view = now;
    settled = settle(settled, now);
    return settled;
  }

  let told = settled;
  function tell(): void {
    const now = read();
    if (now === told) return;
    told = now;
    for (const listener of [...listeners]) listener();
  }

  return {
    getSnapshot: read,
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      if (!leave) {
        leave = thread.subscribe(tell);
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

/** The very same as `before` when nothing but text came. */
function settle(before: SettledThread, { messages, calls, run, open }: ThreadView): SettledThread {
  const speaking = open.flatMap(({ message, isSpeaking }) => (isSpeaking ? [message.id] : []));
  const isSameSpeaking = shallowEqual(before.speaking, speaking);
  if (isSameSpeaking && before.messages === messages && before.calls === calls && before.run === run)
    return before;
  return { messages, calls, run, speaking: isSameSpeaking ? before.speaking : speaking };
}
