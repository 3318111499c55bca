import type { ThreadRef } from "../../thread-ref.js";
import { isBit } from "./model-command.js";
import type { ModelWorld } from "./model-world.js";
import { leaseAt, rowOf } from "./model-world.js";
import type { Operation } from "./operation.js";
import { interruptsAt } from "./registry-commands.js";
import { newStart, startOperation, unbornRun } from "./start-commands.js";
import { commitOperation, newAppend } from "./store-commands.js";

/**
 * What happens in every thread before a case begins, by a drawn number: runs that ended with questions, answers to some of
 * them, runs that wait, snapshots, stops. Names are the same in all threads, so that a statement that forgets which thread it
 * is about finds something of another's.
 */
export function preparations(
  thread: ThreadRef,
  n: number,
): readonly ((world: ModelWorld) => Operation | undefined)[] {
  const at = (world: ModelWorld) => world.threads.indexOf(thread);
  const held = (world: ModelWorld) => {
    const lease = leaseAt(world, 0, false, thread);
    return (
      lease && {
        lease,
        append: (ends: boolean) => newAppend(world, lease, n, ends, isBit(n, 5) ? interruptsAt(3) : []),
      }
    );
  };
  const first = (world: ModelWorld) =>
    startOperation(world, { ...newStart(world, [at(world), 1, 1, 1]), alias: "alias-0" });
  const note = (world: ModelWorld) => {
    const found = held(world);
    return found && commitOperation(world, [found.append(false)]);
  };
  const end = (world: ModelWorld) => {
    const found = held(world);
    return found && commitOperation(world, [found.append(true)]);
  };
  const answer = (world: ModelWorld) => startOperation(world, newStart(world, [at(world), 1, 3, 1]));
  const waitToo = (world: ModelWorld) => startOperation(world, newStart(world, [at(world), 1, 1, 1]));
  const wait = (world: ModelWorld) =>
    startOperation(world, { ...newStart(world, [at(world), 1, 1, 1]), alias: "alias-1" });
  const stop = (world: ModelWorld): Operation => ({
    text: "stop what is not there",
    perform: async ({ registry }) => {
      await registry.stop(thread, { runId: unbornRun(world, thread) });
      return registry.stop(thread, { alias: "alias-3" });
    },
  });
  const snapshot = (world: ModelWorld): Operation | undefined => {
    const row = rowOf(world, thread);
    if (!row) return undefined;
    const position = { epoch: row.epoch, seq: row.head };
    return {
      text: "save a snapshot",
      perform: ({ store }) =>
        store.saveSnapshot(thread, { position, foldVersion: 1, state: { through: row.head } }),
    };
  };
  const release = (world: ModelWorld): Operation | undefined => {
    const found = held(world);
    return found && { text: "release", perform: ({ registry }) => registry.release(found.lease.fence) };
  };
  return [
    ...(isBit(n, 0) ? [stop] : []),
    ...(isBit(n, 1) || isBit(n, 2) ? [first, note] : []),
    ...(isBit(n, 2) ? [wait, waitToo] : []),
    ...(isBit(n, 3) ? [snapshot] : []),
    ...(isBit(n, 4) ? [end] : [release]),
    ...(isBit(n, 5) && isBit(n, 6) ? [answer] : []),
  ];
}
