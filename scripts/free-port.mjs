// @ts-check
import { createServer } from "node:net";

const PORTS_TO_TRY = 100;

/**
 * A port that was asked for is taken or refused; else the first free one from `from` on. 0 is any.
 *
 * @param {{ host: string; wanted: number | undefined; from: number }} place
 * @returns {Promise<number>}
 */
export async function freePort({ host, wanted, from }) {
  if (wanted !== undefined) {
    const port = await tryPort(host, wanted);
    if (port === undefined) throw new Error(`Port ${wanted} is in use.`);
    return port;
  }
  for (let port = from; port < from + PORTS_TO_TRY; port += 1) {
    if ((await tryPort(host, port)) !== undefined) return port;
  }
  throw new Error(`No port from ${from} to ${from + PORTS_TO_TRY - 1} is free.`);
}

/**
 * @param {string} host
 * @param {number} port
 * @returns {Promise<number | undefined>} `undefined`: it is taken
 */
function tryPort(host, port) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === "object" && address ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
