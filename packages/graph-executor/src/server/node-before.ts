import { ThroughlineError } from "@throughline/ai-core";

/**
 * The node after which these nodes run, of those that ran in the step before. Throws `conflict` where it can't be told, and
 * never gives one of the askers: the graph would go on as if its question had been answered.
 */
export function nodeBefore(ranBefore: readonly string[], askers: readonly string[]): string {
  const [node, ...more] = new Set(ranBefore);
  if (node === undefined || more.length > 0) throw cannotAskAgain("several nodes ran before it");
  if (askers.includes(node)) throw cannotAskAgain("the node ran twice in a row");
  return node;
}

export function cannotAskAgain(why: string): ThroughlineError {
  return new ThroughlineError(
    "conflict",
    `The question can't be asked again, because ${why}. Send a new message instead.`,
  );
}
