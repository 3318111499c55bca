// Started by the tests as a process of its own: holds a server until it is told to go, or is killed.
import { startEmbeddedPostgres } from "../start.js";

const [dataDir, user] = process.argv.slice(2);
// Here, not where it is forked: another user might not be able to read this very file.
if (user !== undefined) process.setuid?.(Number(user));
const lines: string[] = [];

process.on("message", async (message) => {
  if (message === "exit") process.exit(0);
  if (message === "stop") await server.then(({ stop }) => stop());
  process.disconnect();
});

const server = startEmbeddedPostgres({
  ...(dataDir === undefined ? {} : { dataDir }),
  log: (line) => {
    lines.push(line);
    process.send?.({ kind: "log", line });
  },
});
server.then(
  ({ url, pid, adopted }) => process.send?.({ kind: "started", url, pid, adopted, lines }),
  (error: Error) => process.send?.({ kind: "failed", message: error.message, lines }),
);
