import type { Interrupt } from "@throughline/ai-core";
import { read } from "./read.js";
import { toPlain, toPlainObject } from "./to-plain.js";

/** What an interrupt of LangGraph carries. The schema of the answer stands beside the value, where the graph gave one. */
export function interruptContent(raw: unknown): Pick<Interrupt, "value" | "response_schema"> {
  const schema = read(raw, "response_schema") ?? read(raw, "responseSchema");
  const isSchema = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  return {
    value: toPlain(read(raw, "value")),
    ...(isSchema && { response_schema: toPlainObject(schema) }),
  };
}
