import type { SpendFact } from "./spend-fact.js";

export interface FactBatch {
  readonly facts: readonly SpendFact[];
  /** Reading goes on here. */
  readonly position: string;
}

/** Where LiteLLM's rows are read from. Reading again is harmless. */
export interface SpendSource {
  readonly name: "spend_log" | "logger";
  /** All rows since a position, oldest position first; from the beginning, or as far back as is useful, without one. */
  read(position: string | undefined): AsyncIterable<FactBatch>;
  /** The rows of these units, where they can be asked for. */
  factsOf?(unitIds: readonly string[]): Promise<readonly SpendFact[]>;
  /** Whether a row that is not there is missing for good, rather than on its way or out of reach. */
  isComplete(): Promise<boolean>;
}
