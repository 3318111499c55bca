import { type Checkpoint, TASKS } from "@langchain/langgraph-checkpoint";
import { readString } from "@throughline/coerce";

/** A node that a checkpoint is about to run, and the channel that says so. */
export interface PendingNode {
  readonly node: string;
  readonly channel: string;
}

const BRANCH = "branch:to:";
const JOIN = "join:";

/** Whether a channel does nothing but tell which nodes run next. */
export function isTrigger(channel: string): boolean {
  return channel === TASKS || channel.startsWith(BRANCH) || channel.startsWith(JOIN);
}

/**
 * The nodes that a checkpoint is about to run by what it stores itself, whether the graph still has them or not; LangGraph
 * passes over those it does not have. A channel that the graph does not have either keeps its last value in a database for
 * ever, so only what was written by the newest superstep counts.
 */
export function pendingNodes({ channel_values, channel_versions }: Checkpoint): readonly PendingNode[] {
  const newest = Math.max(...Object.values(channel_versions).map(stepOf));
  return Object.entries(channel_values).flatMap(([channel, value]): PendingNode[] => {
    if (channel === TASKS) return sentTo(value).map((node) => ({ node, channel }));
    if (stepOf(channel_versions[channel]) < newest) return [];
    if (channel.startsWith(BRANCH)) return [{ node: channel.slice(BRANCH.length), channel }];
    if (!channel.startsWith(JOIN)) return [];
    const [awaited = "", node = ""] = channel.slice(JOIN.length).split(":");
    const isComplete = Array.isArray(value) && awaited.split("+").every((name) => value.includes(name));
    return isComplete ? [{ node, channel }] : [];
  });
}

/** Versions of one superstep share their whole part. */
function stepOf(version: unknown): number {
  return Math.floor(Number(version ?? 0));
}

function sentTo(sends: unknown): readonly string[] {
  if (!Array.isArray(sends)) return [];
  return sends.map((send) => readString(send, "node")).filter((node) => node !== undefined);
}
