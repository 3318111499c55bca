// @ts-check
// The service as a process of its own, started by run-service.mjs: it tells its parent when it serves, and ends with it.
import { runCli } from "../packages/cli/dist/index.js";

/** @type {import("./run-service.mjs").ServiceOrder} */
const { args, defaults, hasWelcome } = JSON.parse(process.argv[2] ?? "");
const gone = new AbortController();
process.on("disconnect", () => gone.abort());
process.on("message", () => gone.abort());

const code = await runCli(["serve", ...args], {
  defaults,
  signal: gone.signal,
  async onServing(serving) {
    process.send?.(serving);
    return hasWelcome ? undefined : "";
  },
});
process.exit(code);
