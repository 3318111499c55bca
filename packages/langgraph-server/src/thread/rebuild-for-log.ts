import type { ThreadFold } from "@throughline/reading";
import type { Rebuilt, RunRegistry, ThreadDirectory, ThreadRef } from "@throughline/thread-log";
import type { FoldRebuilder } from "./fold-rebuilder.js";

/** What the log asks for before it trims a thread that it can't fold; it knows threads by their key alone. */
export async function rebuildForLog(
  {
    rebuilder,
    directory,
    registry,
  }: {
    readonly rebuilder: Pick<FoldRebuilder, "rebuild">;
    readonly directory: Pick<ThreadDirectory, "find">;
    readonly registry: Pick<RunRegistry, "list">;
  },
  ref: ThreadRef,
): Promise<Rebuilt<ThreadFold> | undefined> {
  const graphId = (await directory.find(ref))?.graphId ?? (await registry.list(ref, 1))[0]?.graphId;
  if (graphId === undefined) return undefined;
  const { fold, position, isWhole } = await rebuilder.rebuild({ ref, graphId });
  return isWhole && position ? { state: fold, position } : undefined;
}
