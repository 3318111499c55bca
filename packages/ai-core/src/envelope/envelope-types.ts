/** The types of log entries. Separate from the payloads' schemas, so that a page can list the types without loading zod. */
export const ENVELOPE_TYPES = [
  "run_start",
  "run_end",
  "step_start",
  "step_end",
  "llm_start",
  "llm_token",
  "llm_end",
  "tool_start",
  "tool_update",
  "tool_end",
  "subgraph_checkpoint",
  "subgraph_resume",
  "state_snapshot",
  "state_delta",
  "interrupt",
  "usage",
  "retract",
  "custom",
  "warning",
  "error",
] as const;
export type EnvelopeType = (typeof ENVELOPE_TYPES)[number];
