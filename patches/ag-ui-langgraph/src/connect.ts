export * from "./index.mjs";
export { LangGraphAgent } from "./langgraph-agent.js";
