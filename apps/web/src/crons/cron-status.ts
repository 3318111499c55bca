import type { Status } from "../design/status-dot";
import type { Cron } from "../service/queries/crons";
import { tickWords } from "./tick-words";

/** What a list shows of a cron at a glance: what needs a person first, then what happens, then what is to come. */
export function cronStatus({ enabled, lastTick }: Pick<Cron, "enabled" | "lastTick">): Status {
  const last = lastTick && tickWords(lastTick).status;
  if (last === "running" || last === "error" || last === "waiting") return last;
  return enabled ? "scheduled" : "idle";
}
