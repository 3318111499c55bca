import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that systems give to outgoing connections: one of them could take the port before its server does. */
const FIRST = 15_000;
const LAST = 32_000;

/** A free port of loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
