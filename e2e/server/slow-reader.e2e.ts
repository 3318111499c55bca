import { request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { talk } from "./graphs/talker.js";
import { said } from "./rig/agent-routes.js";
import { parseFrames, type RawFrame } from "./rig/cut-stream.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, startServer } from "./rig/start-server.js";
import { trialsOr } from "./rig/trials.js";

const STAGE = new URL("./graphs/stage.ts", import.meta.url);
const MEBIBYTE = 1_048_576;
/** How long the reader does not read: a minute, or `--trials` seconds. */
const SECONDS = trialsOr(60);
const WORDS_PER_SECOND = 20;
const WORDS = SECONDS * WORDS_PER_SECOND;
/** Far more than what kernels hold for a reader, which on loopback may be some ten mebibytes. */
const TOTAL_BYTES = 24 * MEBIBYTE;
const BODY = {
  threadId: "heavy",
  runId: "heavy",
  messages: [
    said("m", talk({ words: WORDS, size: Math.ceil(TOTAL_BYTES / WORDS), paceMs: 1_000 / WORDS_PER_SECOND })),
  ],
};

let postgres: RigPostgres;
const servers: RigServer[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await postgres.stop();
});

async function start(): Promise<RigServer> {
  const server = await startServer({ databaseUrl: await postgres.createDatabase(), graphs: STAGE });
  servers.push(server);
  return server;
}

/** On a connection of its own, which nothing reads until the test asks for data. */
function post(url: string, action: "run" | "connect", headers: Record<string, string> = {}) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest(`${url}/api/copilotkit/agent/talker/${action}`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", ...headers },
    });
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.end(JSON.stringify(BODY));
  });
}

interface Reading {
  /** How much has come in so far. */
  readonly bytes: number;
  /** All whole frames, once the stream has ended or broken. */
  readonly frames: Promise<RawFrame[]>;
}

function read(message: IncomingMessage): Reading {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const frames = new Promise<RawFrame[]>((resolve) => {
    message.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.byteLength;
    });
    // A reader that was dropped sees its connection break.
    message.once("error", () => {});
    message.once("close", () => resolve(parseFrames(Buffer.concat(chunks))));
  });
  return {
    get bytes() {
      return bytes;
    },
    frames,
  };
}

async function dropped(server: RigServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("throughline_slow_readers_dropped_total"));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const heldBy = async (server: RigServer) => {
  const { heapUsed, external } = await server.memory();
  return heapUsed + external;
};
const withId = (frames: readonly RawFrame[]) => frames.filter(({ id }) => id !== undefined);

describe("a client that stops reading during a heavy run", () => {
  it("costs bounded memory, slows nobody, and catches up exactly", async () => {
    const [server, control] = [await start(), await start()];
    // The same run twice; only one of them has a reader that does not read.
    const quick = read(await post(server.url, "run"));
    const slow = await post(server.url, "run");
    const controlled = read(await post(control.url, "run"));
    let ended = false;
    const both = Promise.all([quick.frames, controlled.frames]).finally(() => {
      ended = true;
    });
    const costs: number[] = [];
    let behind = 0;
    while (!ended) {
      const [held, heldWithout] = await Promise.all([heldBy(server), heldBy(control)]);
      if ((await dropped(server)) > 0) costs.push(held - heldWithout);
      behind = Math.max(behind, controlled.bytes - quick.bytes);
      // A collection each time: asked without a pause, nothing else would be done.
      await pause(500);
    }
    const [whole] = await both;
    expect(await dropped(server)).toBe(1);
    expect(whole.length).toBeGreaterThan(SECONDS * 5);

    // It was let go of long before the end, and what it was owed with it. Collections of the two do not keep step.
    expect(costs.length).toBeGreaterThan(0);
    expect(costs.sort((a, b) => a - b)[Math.floor(costs.length / 2)]).toBeLessThan(8 * MEBIBYTE);
    expect(behind).toBeLessThan(TOTAL_BYTES / 4);

    const held = withId(await read(slow).frames);
    expect(held.length).toBeLessThan(withId(whole).length);
    const back = read(await post(server.url, "connect", { "last-event-id": held.at(-1)?.id ?? "" }));
    expect([...held, ...withId(await back.frames)]).toEqual(withId(whole));
  }, 600_000);
});
