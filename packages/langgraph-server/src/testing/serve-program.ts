import { runServer } from "../server/run-server.js";
import { readStartConfig } from "../settings/server-config.js";

/** A server by hand as a process of its own, with the project that its argument names. */
const [project = ""] = process.argv.slice(2);
const started = {
  env: process.env,
  cwd: process.cwd(),
  isAttended: false,
  flags: { port: "0", project },
  defaults: {},
};
const code = await runServer({
  ...readStartConfig(started),
  flags: started.flags,
  isWatching: false,
  version: "1.2.3",
  signal: new AbortController().signal,
  onEvent() {},
  onServing: async ({ url }) => void process.send?.({ url }),
});
process.exit(code);
