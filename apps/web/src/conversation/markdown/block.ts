import type { Token } from "marked";

/** A paragraph, a list, a table, a fence: what is drawn, and kept, as one. */
export interface Block {
  /** Where it begins, which is also its name: text only ever grows. */
  readonly at: number;
  readonly raw: string;
  readonly tokens: readonly Token[];
}
