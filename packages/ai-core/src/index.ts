export * from "./billing/model-calls.js";

export * from "./billing/model-calls.js";

export * from "./billing/model-calls.js";

export * from "./billing/model-calls.js";

export * from "./billing/model-calls.js";

export * from "./billing/model-calls.js";

export * from "./billing/source-system.js";

export * from "./clock.js";

export * from "./clock.js";

export * from "./context/run-context.js";

export * from "./envelope/envelope.js";
export * from "./envelope/envelope.js";
export * from "./envelope/envelope-types.js";
export * from "./envelope/log-entry.js";
export * from "./errors/error-codes.js";
export * from "./errors/store-outage.js";
export * from "./errors/store-outage.js";
export * from "./errors/throughline-error.js";
export * from "./errors/throughline-error.js";
export * from "./events/ai-events.js";
export * from "./graph/agent-catalog.js";
export * from "./graph/external-runs.js";
export * from "./graph/graph-executor.js";
export * from "./graph/graph-executor.js";
export * from "./graph/graph-executor.js";
export * from "./graph/graph-executor.js";
export * from "./graph/graph-state.js";
export * from "./ids.js";
export * from "./ids.js";
export * from "./ids.js";
export * from "./ids.js";
export * from "./json/json.js";
export * from "./messages/attachment.js";
export * from "./messages/message.js";
export * from "./ports.js";
export * from "./ports.js";

export * from "./ports.js";

export * from "./ports.js";

export * from "./ports.js";

export * from "./usage/add-usage.js";

export * from "./usage/usage.js";
