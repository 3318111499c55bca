import cluster from "node:cluster";
import { runServer } from "../run-server.js";
import { noGraphs } from "../start-server.js";
import { runChild } from "./run-child.js";
import { type RunPrimaryOptions, runPrimary } from "./run-primary.js";

/** Serves with as many processes as are set, until it is told to end, and returns the exit code. */
export async function runProcesses(options: RunPrimaryOptions): Promise<number> {
  if (options.project === undefined && options.config.backend.kind === "inproc") throw noGraphs();
  if (options.config.processes === 1) return runServer(options);
  return cluster.isPrimary ? runPrimary(options) : runChild(options);
}
