import type { SpendFact, SpendSource } from "../reconcile/spend-log.js";

/** For tests: a log of LiteLLM's that grows; each row is a batch of its own. */
export function growingLog(): SpendSource & { readonly rows: SpendFact[]; isWhole: boolean } {
  const rows: SpendFact[] = [];
  return {
    name: "logger",
    rows,
    isWhole: true,
    async *read(position) {
      for (let at = Number(position ?? 0); at < rows.length; at++) {
        yield { facts: rows.slice(at, at + 1), position: String(at + 1) };
      }
    },
    async isComplete() {
      return this.isWhole;
    },
  };
}
