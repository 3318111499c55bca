import type { FactStore, StoredFact } from "./fact-store.js";
import type { SpendFact } from "./spend-fact.js";
import type { SpendSource } from "./spend-source.js";

/** For tests and for services without a database. */
export function createMemoryFactStore(): FactStore {
  const facts = new Map<string, StoredFact & { readonly source: SpendSource["name"] }>();
  const positions = new Map<string, string>();
  return {
    async add(source, added) {
      for (const { fact, isClaimed } of added) {
        const name = JSON.stringify([source, fact.callId, fact.requestId, fact.status]);
        const stored = facts.get(name);
        if (!stored) facts.set(name, { source, fact, isClaimed });
        else if (isClaimed && isSameClaim(stored.fact, fact)) facts.set(name, { ...stored, isClaimed });
      }
    },
    async ofUnits(source, unitIds) {
      return [...facts.values()]
        .filter(
          (stored) => stored.source === source && stored.isClaimed && unitIds.includes(stored.fact.callId),
        )
        .map(({ fact }) => fact);
    },
    async unclaimed(limit) {
      return [...facts.values()]
        .filter(({ isClaimed }) => !isClaimed)
        .map(({ fact }) => fact)
        .sort((a, b) => b.endedAt - a.endedAt)
        .slice(0, limit);
    },
    async position(source) {
      return positions.get(source);
    },
    async setPosition(source, position) {
      positions.set(source, position);
    },
    async prune(endedBefore, limit) {
      const old = [...facts].filter(([, { fact, isClaimed }]) => isClaimed && fact.endedAt < endedBefore);
      for (const [name] of old.slice(0, limit)) facts.delete(name);
      return Math.min(old.length, limit);
    },
  };
}

function isSameClaim(a: SpendFact, b: SpendFact): boolean {
  return a.keyHash === b.keyHash && a.unitId === b.unitId;
}
