import type { Group, UsageFilter } from "../service/queries/usage";
import { shiftMonth } from "./month";

const DAY_MS = 86_400_000;

/** A month, from its first moment to that of the next. */
function monthFilter(month: string): UsageFilter {
  return { from: `${month}-01`, to: `${shiftMonth(month, 1)}-01` };
}

/** What finds the runs behind a row; `undefined` of rows that the service can't filter by: calls without a model or person. */
export function rowFilter(month: string, group: Group, key: string): UsageFilter | undefined {
  if (key === "") return undefined;
  const range = monthFilter(month);
  switch (group) {
    case "day":
      return { from: key, to: new Date(Date.parse(key) + DAY_MS).toISOString().slice(0, 10) };
    case "agent":
      return { ...range, agentId: key };
    case "model":
      return { ...range, model: key };
    case "person":
      return { ...range, subject: key };
  }
}
