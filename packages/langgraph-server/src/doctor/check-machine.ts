import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { type Finding, fail, ok, warn } from "./finding.js";

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok("node", `Node ${version}.`);
  return fail("node", `Node ${version} is too old.`, "Install Node 20.19 or newer from https://nodejs.org.");
}

const FEW_BYTES = 1_000_000_000;
const TOO_FEW_BYTES = 200_000_000;

/** Of the file system that holds the data, or will. */
export async function checkDisk(folder: string): Promise<Finding> {
  let nearest = resolve(folder);
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest);
  const { bavail, bsize } = await statfs(nearest);
  const free = bavail * bsize;
  const said = `${(free / 1e9).toFixed(1)} GB are free at ${nearest}.`;
  if (free < TOO_FEW_BYTES)
    return fail("disk", said, "Make room, or set THROUGHLINE_DATA_DIR to a folder on another disk.");
  return free < FEW_BYTES
    ? warn("disk", said, "Make room soon: a database that can't write stops.")
    : ok("disk", said);
}

export async function checkPort(host: string, port: number | undefined): Promise<Finding> {
  const wanted = port ?? 8_000;
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    const server = createServer();
    server.once("error", done);
    server.listen(wanted, host, () => server.close(() => done(undefined)));
  });
  if (!problem) return ok("port", wanted === 0 ? "Any free one." : `${host}:${wanted} is free.`);
  if (problem.code === "EADDRINUSE" && (await isOurs(host, wanted))) {
    return ok("port", `A Throughline server answers at ${host}:${wanted} already.`);
  }
  if (problem.code === "EADDRINUSE" && port === undefined) {
    return ok("port", `${host}:${wanted} is taken by something else; the next free one will be used.`);
  }
  const said = `${host}:${wanted} can't be listened on (${problem.code ?? problem.message}).`;
  return fail("port", said, "Choose another one: PORT=8001, or --port 8001.");
}

async function isOurs(host: string, port: number): Promise<boolean> {
  const address = host.includes(":") ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${address}:${port}/health`, { signal: AbortSignal.timeout(2_000) });
    return answer.headers.has("x-request-id");
  } catch {
    return false;
  }
}
