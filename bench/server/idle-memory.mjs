import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { median } from "../median.mjs";
import { atMost } from "../targets.mjs";
import { CONVERSATION } from "./graphs/talker.mjs";
import { connectionOf, runOf } from "./our-routes.mjs";
import { readSse } from "./sse-reader.mjs";

const AT_ONCE = 50;
const WARMING = 500;
/** A thread on which nothing happens is let go of after ten seconds; a viewer is idle for minutes or hours. */
const QUIET_MS = 15_000;

/**
 * Bytes on the heap and beside it, after garbage collection, that one more viewer costs who waits for something to happen on
 * a thread with a conversation: ours on threads of their own and all on one, against open responses of a bare server. Every
 * measurement has a process of its own, and the threads were written by another. What the process has of the system is told
 * beside it: it moves in large steps, and what was once taken is seldom given back.
 */
export async function measureIdleMemory({ ours, startOurs, startBare }, { viewers, rounds, progress }) {
  progress(`  ${viewers + 1} threads of ${CONVERSATION} messages`);
  const [shared, ...own] = await writeThreads(ours.url, viewers + 1);
  const watching = (threadAt) => (url) => (index) =>
    connectionOf(url, "talker", threadAt(index), { follow: true });
  await expectConversation(watching(() => shared)(ours.url)());
  const subjects = {
    "ours, a thread each": {
      start: startOurs,
      connect: watching((index) => own[index]),
      warm: watching(() => shared),
    },
    "ours, one thread": { start: startOurs, connect: watching(() => shared), warm: watching(() => shared) },
    bare: { start: startBare, connect: bareOf, warm: bareOf },
  };
  const seen = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, { start, connect, warm }] of Object.entries(subjects)) {
      progress(`  ${viewers} idle, ${name}`);
      const server = await start();
      try {
        seen[name].push(await bytesPerViewer(server, connect(server.url), warm(server.url), viewers));
      } finally {
        await server.stop();
      }
    }
  }
  return report(seen);
}

const bareOf = (url) => () => ({ url: `${url}/watch/written` });

async function writeThreads(url, count) {
  const threads = Array.from({ length: count }, () => randomUUID());
  for (let written = 0; written < count; written += AT_ONCE) {
    await Promise.all(threads.slice(written, written + AT_ONCE).map((thread) => writeThread(url, thread)));
  }
  return threads;
}

async function writeThread(url, thread) {
  let last = "";
  const reading = readSse(runOf(url, "talker", thread, {}), (frame) => {
    last = frame;
  });
  await reading.ended;
  if (!last.includes("RUN_FINISHED")) throw new Error(`A run ended with ${last}`);
}

/** Viewers of empty threads would be cheap ones. */
async function expectConversation(what) {
  let messages;
  await new Promise((resolve, reject) => {
    const reading = readSse(what, (frame) => {
      if (!frame.includes("MESSAGES_SNAPSHOT")) return;
      ({ messages } = JSON.parse(/^data: ?(.*)$/m.exec(frame)[1]));
      reading.leave();
      resolve();
    });
    reading.ended.then(() => reject(new Error("A stream ended without a conversation.")), reject);
  });
  if (messages.length !== CONVERSATION) throw new Error(`A thread shows ${messages.length} messages.`);
}

/** Warmed up on one thread: what a service keeps for a while of threads that were left must not be measured. */
async function bytesPerViewer(server, connect, warm, count) {
  const warming = await openAll(warm, WARMING);
  for (const reading of warming) reading.leave();
  const before = await server.ask("memory");
  const readings = await openAll(connect, count);
  await delay(QUIET_MS);
  const after = await server.ask("memory");
  for (const reading of readings) reading.leave();
  return {
    resident: (after.resident - before.resident) / count,
    held: (after.held - before.held) / count,
  };
}

async function openAll(connect, count) {
  const readings = [];
  while (readings.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - readings.length) }, (_, index) =>
      readSse(connect(readings.length + index), () => {}),
    );
    await Promise.all(some.map(({ opened }) => opened));
    readings.push(...some);
  }
  return readings;
}

function report(seen) {
  const kb = (name, what) => median(seen[name].map((bytes) => bytes[what])) / 1_024;
  const of = (name) => ({ held: kb(name, "held"), "resident set": kb(name, "resident") });
  return {
    ours: {
      "KB per idle viewer: a thread each": of("ours, a thread each"),
      "KB per idle viewer: one thread": of("ours, one thread"),
    },
    peer: { "KB per idle viewer: bare response": of("bare") },
    targets: [
      atMost("KB per idle viewer, a thread each", kb("ours, a thread each", "held"), 25),
      atMost("KB per idle viewer, one thread", kb("ours, one thread", "held"), 25),
    ],
  };
}
