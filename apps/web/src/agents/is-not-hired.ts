import type { JsonObject } from "@throughline/ai-core";
import { isJsonObject } from "../design/is-json-object";

/** Whether the agent refused its last command because it is not hired, as the Sentinel's own log says. */
export function isNotHired({ log }: JsonObject): boolean {
  const last = Array.isArray(log) ? log.at(-1) : undefined;
  return last !== undefined && isJsonObject(last) && last.code === "not_hired";
}
