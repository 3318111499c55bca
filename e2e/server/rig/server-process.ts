// One instance of the real server, as a process of its own: settings come by the environment, the rest as the first argument.
import { readConfig, startServer } from "@throughline/langgraph-server";
import type { ServerProcessOptions } from "./server-process-options.js";

// A parsed boundary: start-server.ts wrote it.
const { graphs, declared, ...timing } = JSON.parse(process.argv[2] ?? "{}") as ServerProcessOptions;
const server = await startServer(readConfig(settings()), {
  ...(declared && { declared }),
  service: { ...timing, ...(graphs !== undefined && { graphs: (await import(graphs)).default }) },
});

const leave = () => void server.close().then(() => process.exit(0));
process.on("SIGTERM", leave);
// The parent process is gone.
process.on("disconnect", leave);
process.on("message", (asked) => {
  if (asked !== "memory") return;
  globalThis.gc?.();
  process.send?.({ memory: process.memoryUsage() });
});
process.send?.({ url: server.url });

/** Only what names a setting: a runner's own variables are no business of the server's. */
function settings(): Record<string, string | undefined> {
  const { THROUGHLINE_SEED: _seed, THROUGHLINE_TRIALS: _trials, ...rest } = process.env;
  return rest;
}
