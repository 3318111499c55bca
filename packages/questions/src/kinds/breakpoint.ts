import type { QuestionBase } from "../question-source.js";

/** A graph that was compiled to pause before a node. It asks nothing: it goes on when it is told to. */
export interface BreakpointQuestion extends QuestionBase {
  readonly kind: "breakpoint";
  readonly nodes: readonly string[];
}

/** LangGraph tells of it by an empty list of interrupts and the nodes that would run next. */
export function readBreakpoint(nodes: readonly string[]): BreakpointQuestion {
  const message = nodes.length > 0 ? `Paused before ${nodes.join(", ")}.` : "Paused.";
  return { kind: "breakpoint", message, value: null, schema: undefined, nodes };
}
