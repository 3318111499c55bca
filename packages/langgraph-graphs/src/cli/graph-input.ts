import type { GraphDefinition } from "../graphs/graph-definition.js";
import { UsageError } from "./usage-error.js";

/** A text is a user's message, anything else is the graph's input itself. Either is checked before the graph sees it. */
export function readInput(definition: GraphDefinition, value: unknown): unknown {
  const input = typeof value === "string" ? { messages: [{ role: "user", content: value }] } : value;
  const checked = definition.inputSchema.safeParse(input);
  // What was given is passed on, not what zod made of it: the graph applies its own defaults.
  if (checked.success) return input;
  const issue = checked.error.issues[0];
  const field = issue?.path.map(String).join(".") || "input";
  throw new UsageError(
    `${definition.graphName} does not take this input: ${field}: ${oneLine(issue?.message)}`,
  );
}

/** A line a person typed: a JSON object is an input, everything else is what they say. */
export function readLine(definition: GraphDefinition, line: string): unknown {
  if (!line.trimStart().startsWith("{")) return readInput(definition, line);
  return readInput(definition, parseJson(line, "This line"));
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `${what} is not valid JSON: ${oneLine(error instanceof Error ? error.message : error)}`,
    );
  }
}

function oneLine(value: unknown): string {
  return String(value ?? "is not valid").replace(/\s+/g, " ");
}
