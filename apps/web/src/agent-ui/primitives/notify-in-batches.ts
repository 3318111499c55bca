/** Number of listeners called in one task. Each of them renders a little. */
const AT_A_TIME = 10;

/** A set of listeners, or a map by listener. */
interface Listeners {
  keys(): Iterable<() => void>;
  has(listener: () => void): boolean;
}

/**
 * Calls listeners in batches, each in its own task, so that input and tokens are handled between them. For changes that as many
 * parts of the page show as a thread has turns. Listeners that unsubscribe in the meantime are not called.
 */
export function notifyInBatches(
  listeners: Listeners,
  pending: readonly (() => void)[] = [...listeners.keys()],
): void {
  for (const listener of pending.slice(0, AT_A_TIME)) if (listeners.has(listener)) listener();
  if (pending.length > AT_A_TIME) setTimeout(notifyInBatches, 0, listeners, pending.slice(AT_A_TIME));
}
