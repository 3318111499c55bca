import type { ThreadHandle, ThreadView } from "@throughline/agent-client";

export interface MessageListeners {
  /** Calls back when this message may have changed. */
  subscribe(messageId: string, listener: () => void): () => void;
}

const ofHandle = new WeakMap<ThreadHandle, MessageListeners>();

/**
 * Who shows which message of a thread. With a listener of the thread for each, a token would cost as much as there are
 * messages on the page; so it costs as much as there are messages under way.
 */
export function messageListeners(handle: ThreadHandle): MessageListeners {
  const known = ofHandle.get(handle);
  if (known) return known;
  const created = createMessageListeners(handle);
  ofHandle.set(handle, created);
  return created;
}

function createMessageListeners(handle: ThreadHandle): MessageListeners {
  const listeners = new Map<string, Set<() => void>>();
  let leave: (() => void) | undefined;
  let told = handle.getSnapshot().view;

  function tell(): void {
    const before = told;
    told = handle.getSnapshot().view;
    for (const id of mayDiffer(before, told) ?? [...listeners.keys()]) {
      for (const listener of [...(listeners.get(id) ?? [])]) listener();
    }
  }

  return {
    subscribe(messageId, listener) {
      if (!leave) {
        leave = handle.subscribe(tell);
        told = handle.getSnapshot().view;
      }
      const own = () => listener();
      const those = listeners.get(messageId) ?? new Set();
      listeners.set(messageId, those.add(own));
      return () => {
        those.delete(own);
        if (those.size > 0 || listeners.get(messageId) !== those) return;
        listeners.delete(messageId);
        if (listeners.size > 0) return;
        leave?.();
        leave = undefined;
      };
    },
  };
}

/** Ids of messages that may read differently; `undefined`: any may. Text that streams leaves the list as it is. */
function mayDiffer(before: ThreadView, now: ThreadView): Iterable<string> | undefined {
  if (before.messages !== now.messages) return undefined;
  if (before.open === now.open) return [];
  return new Set([...before.open, ...now.open].map(({ message }) => message.id));
}
