export type { ServerInfo } from "@throughline/langgraph-server/admin";
export { type CliOptions, runCli } from "./run-cli.js";
