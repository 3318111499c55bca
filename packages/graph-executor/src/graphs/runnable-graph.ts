import type { Pregel } from "@langchain/langgraph/pregel";
import { read } from "@throughline/coerce";

/** A compiled graph, whatever its state is. */
// biome-ignore-start lint/suspicious/noExplicitAny: Pregel is invariant in its type parameters; callers never name them.
export type RunnableGraph = Pregel<any, any, any, any, any, any, any, any, any, any, any>;
// biome-ignore-end lint/suspicious/noExplicitAny: the line above is the only place.

/** By mark and not by class: a project's own copy of LangGraph makes graphs that are no instance of ours. */
export function isRunnableGraph(value: unknown): value is RunnableGraph {
  return read(value, "lg_is_pregel") === true && typeof read(value, "stream") === "function";
}

/**
 * What people export as a graph: a compiled one, a builder that still has to be compiled, or an agent of `createAgent`,
 * which holds its graph inside. `undefined` for anything else.
 */
export function toRunnableGraph(exported: unknown): RunnableGraph | undefined {
  const inner = read(exported, "graph");
  if (isRunnableGraph(inner)) return inner;
  if (isRunnableGraph(exported)) return exported;
  const compile = read(exported, "compile");
  if (typeof exported !== "object" || exported === null || typeof compile !== "function") return undefined;
  const compiled: unknown = Reflect.apply(compile, exported, []);
  return isRunnableGraph(compiled) ? compiled : undefined;
}
