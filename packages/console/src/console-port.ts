import { createServer } from "node:net";

const FIRST_PORT = 3_000;
const PORTS_TO_TRY = 100;

/** Chooses the console's port: the requested one, where 0 is any, else 3000 or the next free one. */
export async function consolePort(host: string, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    const port = await bindOnce(host, wanted);
    if (port === undefined) throw new Error(`Port ${wanted} is in use. Name another with --console-port.`);
    return port;
  }
  for (let offset = 0; offset < PORTS_TO_TRY; offset += 1) {
    const port = await bindOnce(host, FIRST_PORT + offset);
    if (port !== undefined) return port;
  }
  throw new Error(`No port from ${FIRST_PORT} on is free. Name one with --console-port.`);
}

/** Binds a port and releases it at once. Returns its number, or `undefined` where another process has it. */
async function bindOnce(host: string, port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen({ host, port, exclusive: true }, resolve);
    });
    const address = server.address();
    return typeof address === "object" ? address?.port : undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE" || code === "EACCES") return undefined;
    throw error;
  } finally {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }
}
