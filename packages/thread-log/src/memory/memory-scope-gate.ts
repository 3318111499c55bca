import { beingDeleted, type ClosedScope, type GatedScope, isCovered } from "../port/scope-gate.js";
import type { MemoryDatabase } from "./memory-database.js";

export function isScopeClosed({ closures }: MemoryDatabase, scope: GatedScope): boolean {
  return [...closures.values()].some((closed) => isCovered(scope, closed));
}

/** For stores that make what a deletion would have to find: call it in the turn that makes it. Throws `beingDeleted`. */
export function admitInMemory(database: MemoryDatabase, scope: GatedScope): void {
  if (isScopeClosed(database, scope)) throw beingDeleted();
}

/** From the next turn on nothing may start in the scope. Closing it again under the same id changes nothing. */
export function closeMemoryScope({ closures }: MemoryDatabase, id: string, scope: ClosedScope): void {
  if (!closures.has(id)) closures.set(id, scope);
}

export function openMemoryScope({ closures }: MemoryDatabase, id: string): void {
  closures.delete(id);
}
