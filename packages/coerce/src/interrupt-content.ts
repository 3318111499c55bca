import type { Interrupt } from "@throughline/ai-core";
import { read } from "./read.js";
import { toPlain, toPlainObject } from "./to-plain.js";

/** Reads the value of LangGraph's interrupt, and the schema of the response next to it, where the graph gave one. */
export function interruptContent(raw: unknown): Pick<Interrupt, "value" | "response_schema"> {
  const schema = read(raw, "response_schema") ?? read(raw, "responseSchema");
  const isSchema = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  return {
    value: toPlain(read(raw, "value")),
    ...(isSchema && { response_schema: toPlainObject(schema) }),
  };
}
