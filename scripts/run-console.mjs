// @ts-check
import { join } from "node:path";
import { startConsole } from "../packages/console/dist/index.js";
import { root } from "./workspace-packages.mjs";

/**
 * Runs this repository's own console, as `ensureConsoleBuilt` left it.
 *
 * @param {Omit<import("../packages/console/dist/index.js").ConsoleOptions, "program">} options
 */
export function runConsole(options) {
  const cwd = join(root, "apps", "web");
  return startConsole({
    ...options,
    program: (host, port) => ({
      script: join(cwd, "node_modules", "next", "dist", "bin", "next"),
      args: ["start", "--port", String(port), "--hostname", host],
      cwd,
    }),
  });
}
