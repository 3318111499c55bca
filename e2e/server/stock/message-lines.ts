import { isDeepStrictEqual } from "node:util";

/** Of a client or of a checkpoint. */
export interface AnyMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly { readonly id: string }[] | undefined;
  readonly tool_calls?: readonly { readonly id: string }[] | undefined;
}

/**
 * Each message with its text and its calls, in order, so that a conversation can be compared with another. Results of parallel calls
 * have no order of their own: they stand sorted by what they say. Thoughts are no part of a checkpoint.
 */
export function messageLines(messages: readonly AnyMessage[]): readonly string[] {
  const lines: string[] = [];
  let results: string[] = [];
  const endResults = () => {
    lines.push(...results.sort((one, other) => (withoutId(one) < withoutId(other) ? -1 : 1)));
    results = [];
  };
  for (const message of messages) {
    if (message.role === "reasoning") continue;
    if (message.role !== "tool") endResults();
    (message.role === "tool" ? results : lines).push(lineOf(message));
  }
  endResults();
  return lines;
}

/** Where a conversation that is shown differs from the one that a checkpoint holds, in words. */
export function conversationDifferences(
  shown: readonly string[],
  held: readonly string[],
): readonly string[] {
  const differences = [
    ...shown
      .filter((line) => !held.includes(line))
      .map((line) => `shows what the checkpoint does not hold: ${line.slice(0, 200)}`),
    ...held
      .filter((line) => !shown.includes(line))
      .map((line) => `does not show what the checkpoint holds: ${line.slice(0, 200)}`),
  ];
  if (differences.length > 0 || isDeepStrictEqual(shown, held)) return differences;
  const idsOf = (lines: readonly string[]) => lines.map((line) => line.split(" ")[0]).join(", ");
  return [`shows ${idsOf(shown)}; the checkpoint holds ${idsOf(held)}`];
}

function lineOf({ id, role, content, toolCalls, tool_calls }: AnyMessage): string {
  const calls = (toolCalls ?? tool_calls ?? []).map((call) => ` calls ${call.id}`);
  return `${id} ${role}: ${JSON.stringify(content ?? "")}${calls.join("")}`;
}

/** LangGraph names what a tool said at each read, until a checkpoint has it. */
export function withoutId(line: string): string {
  return line.replace(/^\S+ tool:/, "tool:");
}
