import type { InterruptRequestBase } from "../question-source.js";

/** A pause before a node that a graph was compiled with. Nothing is asked: the graph continues when it is resumed. */
export interface BreakpointRequest extends InterruptRequestBase {
  readonly kind: "breakpoint";
  readonly nodes: readonly string[];
}

/** LangGraph reports a breakpoint as an empty list of interrupts and the nodes that would run next. */
export function readBreakpoint(nodes: readonly string[]): BreakpointRequest {
  const message = nodes.length > 0 ? `Paused before ${nodes.join(", ")}.` : "Paused.";
  return { kind: "breakpoint", message, value: null, schema: undefined, nodes };
}
