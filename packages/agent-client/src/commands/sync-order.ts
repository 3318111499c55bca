import type { Scheduler } from "./scheduler-state.js";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether it is a UUID of version 7, which sorts by when it was made. */
export function isV7(id: string): boolean {
  return V7.test(id);
}

/** Whether `a` was made after `b`. Ids of one kind sort by when they were made; between two kinds nothing is known. */
export function isNewer(a: string, b: string): boolean {
  return a > b && isV7(a) === isV7(b);
}

/** The newest `sync` that is known of the thread, however far it has come, if it is newer than this one. */
export function newerSync(
  { sync, sent, unconfirmed, lastConfirmed }: Scheduler,
  id: string,
): string | undefined {
  const sending = sent?.command.kind === "sync" ? sent.command.id : undefined;
  return [sync?.id, sending, unconfirmed?.id, lastConfirmed]
    .filter((known) => known !== undefined && isNewer(known, id))
    .toSorted()
    .at(-1);
}
