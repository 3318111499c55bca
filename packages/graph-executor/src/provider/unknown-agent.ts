import { parseGraphId, ThroughlineError } from "@throughline/ai-core";

/** `not_found` for an agent that is not there, with the names of those that are. */
export function unknownAgent(
  graphId: string,
  available: readonly string[],
  cause?: unknown,
): ThroughlineError {
  const names = [...new Set(available)].join(", ") || "none";
  return new ThroughlineError(
    "not_found",
    `Unknown agent "${parseGraphId(graphId) ?? graphId}". Available: ${names}.`,
    { cause, details: { graphId, available: [...new Set(available)] } },
  );
}
