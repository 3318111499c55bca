import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  maxChannelVersion,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import type { Json } from "@throughline/ai-core";
import { read } from "@throughline/coerce";
import { isTrigger } from "./pending-nodes.js";

/** Whether an answer declines its question, by the mark that graphs written for AG-UI know. */
export function isDeclined(answer: Json | undefined): boolean {
  return read(answer, "__agui_cancelled__") === true;
}

/**
 * Makes a thread idle that waits in a node which its graph lacks: a new checkpoint with everything the last one holds but
 * what was to run next. Needs no graph. The channels are emptied under a newer version rather than left out, because the
 * versions of a thread may only grow.
 */
export async function setAside(saver: BaseCheckpointSaver, tuple: CheckpointTuple): Promise<void> {
  const { checkpoint, config, metadata } = tuple;
  const emptied = Object.keys(checkpoint.channel_values).filter(isTrigger);
  const newest = Number(maxChannelVersion(...Object.values(checkpoint.channel_versions)));
  const versions = Object.fromEntries(emptied.map((channel) => [channel, saver.getNextVersion(newest)]));
  const kept = Object.entries(checkpoint.channel_values).filter(([channel]) => !emptied.includes(channel));
  const step = (metadata?.step ?? -1) + 1;
  await saver.put(
    config,
    {
      ...checkpoint,
      id: uuid6(step),
      ts: new Date().toISOString(),
      channel_values: Object.fromEntries(kept),
      channel_versions: { ...checkpoint.channel_versions, ...versions },
    },
    { source: "update", step, parents: metadata?.parents ?? {} },
    versions,
  );
}
