import { emptyThreadProjection, threadProjectionCodec } from "@throughline/reading";
import { readProjection, type ThreadLog } from "@throughline/thread-log";
import type { ThreadAddress } from "../threads/thread-address.js";
import type { KnownProjection, ProjectionRebuilder } from "./rebuild-projection.js";

/**
 * The thread's projection. R20: where the log no longer has it, it is rebuilt and stored as a snapshot, so that this happens
 * once. Of several concurrent rebuilds, on any instances, one saves it.
 */
export async function readThreadProjection(
  {
    log,
    rebuilder,
  }: {
    readonly log: Pick<ThreadLog, "read" | "saveSnapshot" | "snapshot">;
    readonly rebuilder: Pick<ProjectionRebuilder, "rebuild">;
  },
  thread: Pick<ThreadAddress, "ref" | "graphId">,
): Promise<KnownProjection> {
  const answer = await readProjection(log, threadProjectionCodec, thread.ref);
  if (answer.kind === "folded") return { fold: answer.state, position: answer.position, isWhole: true };
  if (answer.kind === "deleted") return { fold: emptyThreadProjection, position: undefined, isWhole: true };
  const rebuilt = await rebuilder.rebuild(thread);
  const { fold, position, isWhole } = rebuilt;
  if (isWhole && position) {
    const state = threadProjectionCodec.encode(fold);
    await log.saveSnapshot(thread.ref, { position, foldVersion: threadProjectionCodec.version, state });
  }
  return rebuilt;
}
