import { createServerEventReader, read, readArray, readString } from "@throughline/coerce";
import type { ServerEvent } from "./server-event.js";

/** What the newest event says about the run's end. The server itself closes the stream half a second after the last one. */
export type EndSign =
  | { readonly kind: "none" }
  /** `onInput`: the graph was there and no task of it had begun, so it failed on what it was given. */
  | { readonly kind: "error"; readonly onInput: boolean; readonly name: string; readonly message: string }
  | { readonly kind: "interrupt" }
  /** The last event, if the thread's newest checkpoint is this one. Not every server names it. */
  | { readonly kind: "values"; readonly checkpointId: string | undefined };

export interface EndSigns {
  readonly current: EndSign;
  push(event: ServerEvent): void;
}

const NONE: EndSign = { kind: "none" };

/**
 * A superstep of the root ends with its tasks' results, a `checkpoints` envelope and `values`; one that asks a person ends
 * with `values` and then the results of its tasks; a failure ends with `error`. In `events` the end of the graph's own run
 * follows.
 */
export function createEndSigns(): EndSigns {
  const open = new Set<string>();
  let begun = false;
  let anyTask = false;
  let checkpointId: string | undefined;
  let current: EndSign = NONE;

  const readEvent = createServerEventReader();

  function signOf(event: ServerEvent): EndSign {
    const { ns, mode, data } = readEvent(event.event, event.data);
    // Sent once the graph is loaded: without it, loading was what failed.
    if (mode === "metadata") begun = true;
    if (mode === "error")
      return {
        kind: "error",
        onInput: begun && !anyTask,
        name: readString(data, "error") ?? "Error",
        message: readString(data, "message") ?? "",
      };
    if (ns.length > 0) return NONE;
    if (mode === "events") return signOfEvent(data);
    if (mode === "checkpoints") checkpointId = readString(data, "id");
    if (mode === "values" && open.size === 0) return { kind: "values", checkpointId };
    if (mode !== "tasks" || typeof data !== "object" || data === null) return NONE;
    anyTask = true;
    const id = readString(data, "id") ?? "";
    if (!("result" in data)) open.add(id);
    else if (open.delete(id) && open.size === 0 && readArray(data, "interrupts").length > 0) {
      return { kind: "interrupt" };
    }
    return NONE;
  }

  function signOfEvent(data: unknown): EndSign {
    if (readString(read(data, "metadata"), "langgraph_node") !== undefined) {
      anyTask = true;
      return NONE;
    }
    if (readString(data, "event") !== "on_chain_end") return NONE;
    return current.kind === "interrupt" ? current : { kind: "values", checkpointId };
  }

  return {
    get current() {
      return current;
    },
    push(event) {
      current = signOf(event);
    },
  };
}
