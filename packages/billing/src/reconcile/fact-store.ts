import type { SpendFact } from "./spend-fact.js";
import type { SpendSource } from "./spend-source.js";

export interface StoredFact {
  readonly fact: SpendFact;
  /** A unit of ours is its own. Otherwise a key of ours was used past the meter. */
  readonly isClaimed: boolean;
}

/** Rows that were read, so that a unit's are seen together, and how far each source was read. */
export interface FactStore {
  /** Adds rows; one that is there already stays as it is, but is claimed once a unit is there that claims it. */
  add(source: SpendSource["name"], facts: readonly StoredFact[]): Promise<void>;
  /** The claimed rows of these units. */
  ofUnits(source: SpendSource["name"], unitIds: readonly string[]): Promise<readonly SpendFact[]>;
  /** Rows of our keys that no unit claims, newest first. */
  unclaimed(limit: number): Promise<readonly SpendFact[]>;
  position(source: SpendSource["name"]): Promise<string | undefined>;
  setPosition(source: SpendSource["name"], position: string): Promise<void>;
  /** Deletes claimed rows that ended before this time. */
  prune(endedBefore: number, limit: number): Promise<number>;
}
