import { readArray, readString } from "@throughline/coerce";
import type { ServerEvent } from "../server/client.js";

/**
 * Messages of a state that were not emitted before, each as a whole `messages` tuple, which is how a message enters a log.
 * The caller has the thread's projection, and drops messages from before the run.
 */
export function* newMessages(values: unknown, emitted: Set<string>): Generator<ServerEvent, void, undefined> {
  for (const message of readArray(values, "messages")) {
    const id = readString(message, "id");
    if (id === undefined || emitted.has(id)) continue;
    emitted.add(id);
    yield { event: "messages", data: [message, {}] };
  }
}
