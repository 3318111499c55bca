/** Listeners called in one task. Each of them renders a little. */
const AT_A_TIME = 10;

/** A set of listeners, or a map by listener. */
interface Listeners {
  keys(): Iterable<() => void>;
  has(listener: () => void): boolean;
}

/**
 * Calls listeners a few at a time, each time in a task of their own, which leaves room for input and tokens between them: for
 * news that as many parts of the page show as a thread has turns. Listeners that leave in the meantime are not called.
 */
export function tellFew(listeners: Listeners, untold: readonly (() => void)[] = [...listeners.keys()]): void {
  for (const listener of untold.slice(0, AT_A_TIME)) if (listeners.has(listener)) listener();
  if (untold.length > AT_A_TIME) setTimeout(tellFew, 0, listeners, untold.slice(AT_A_TIME));
}
