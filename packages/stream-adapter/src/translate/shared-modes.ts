import type { UpstreamChunk } from "@throughline/ai-core";
import { read, readArray, readNumber, readString } from "@throughline/coerce";
import { nameOfCustom } from "./custom-events.js";
import { digest } from "./digest.js";
import type { RunParts } from "./run-parts.js";

/** Modes that mean the same in both dialects. `false` when the chunk is of another mode. */
export function createSharedModes(parts: RunParts): (chunk: UpstreamChunk) => boolean {
  const seenCheckpoints = new Set<string>();

  function checkpoint(ns: readonly string[], data: unknown): void {
    // In-process payloads carry the whole `configurable`: only ids leave this function.
    const config = read(read(data, "config"), "configurable");
    const id = readString(data, "id") ?? readString(config, "checkpoint_id");
    const path = ns.join("|");
    if (path === "" || id === undefined || seenCheckpoints.has(`${path} ${id}`)) return;
    seenCheckpoints.add(`${path} ${id}`);
    const task = parts.tasks.at(path);
    const site = parts.tasks.siteAt(path);
    if (!task || !site) return;
    const step = readNumber(data, "step") ?? readNumber(read(data, "metadata"), "step") ?? null;
    parts.sink.emit("subgraph_checkpoint", site, {
      checkpoint_id: id,
      node: task.node,
      // A checkpoint never changes, so its id stands for the state: hashing that would cost 5 ms a megabyte.
      state_digest: digest(`${id} ${step}`),
      step,
    });
  }

  return ({ ns, mode, data }) => {
    switch (mode) {
      case "values":
        parts.interrupts.add(read(data, "__interrupt__"), ns);
        if (ns.length === 0) {
          parts.tools.learnFrom(read(data, "messages"));
          parts.conversation.values(read(data, "messages"));
          parts.state.values(data);
        } else parts.tasks.state(ns.join("|"), data);
        return true;
      case "checkpoints":
        checkpoint(ns, data);
        return true;
      case "custom": {
        const named = nameOfCustom(data);
        parts.custom(named.name, named.data, parts.tasks.siteAt(ns.join("|")) ?? parts.root);
        return true;
      }
      case "error":
        parts.failure.hear(data);
        return true;
      default:
        return false;
    }
  };
}

/** `updates` of one superstep: `{ node: partialState, … }`, possibly with `__interrupt__` and `__metadata__` beside. */
export function updatedNodes(data: unknown): readonly string[] {
  if (typeof data !== "object" || data === null) return [];
  return Object.keys(data).filter((key) => !key.startsWith("__"));
}

export function updatedMessages(data: unknown, node: string): readonly unknown[] {
  const update = read(data, node);
  const list = readArray(update, "messages");
  return list.length > 0 || !Array.isArray(update)
    ? list
    : update.flatMap((item) => [...readArray(item, "messages")]);
}
