import { readArray, readString } from "@throughline/coerce";
import type { ServerEvent } from "../server/client.js";

/**
 * Messages of a state that were not told before, each as a whole `messages` tuple, which is how a message enters a log.
 * The caller knows the thread, and drops what it held before the run.
 */
export function* newMessages(values: unknown, told: Set<string>): Generator<ServerEvent, void, undefined> {
  for (const message of readArray(values, "messages")) {
    const id = readString(message, "id");
    if (id === undefined || told.has(id)) continue;
    told.add(id);
    yield { event: "messages", data: [message, {}] };
  }
}
