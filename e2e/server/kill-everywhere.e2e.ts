import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectTakeover } from "./graphs/takeover-law.js";
import { DEADLY_WORKSHOP, openWorkshopBooks, type WorkshopBooks } from "./graphs/workshop-books.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, type RigServerOptions, startServer } from "./rig/start-server.js";
import { eachTrial, trialsOr } from "./rig/trials.js";
import { messageLines } from "./stock/message-lines.js";
import { AG_UI_LINES, returningClient } from "./stock/returning-client.js";
import { threadEnvelopes } from "./thread-envelopes.js";

/** `--trials 121` kills at each of them. */
const CHUNKS_TO_QUESTION = 93;
const CHUNKS_FROM_ANSWER = 28;
const CHUNKS = CHUNKS_TO_QUESTION + CHUNKS_FROM_ANSWER;
const USUAL_TRIALS = 16;

let postgres: RigPostgres;
let books: WorkshopBooks;
let mortal: RigServer;
let survivor: RigServer;
beforeAll(async () => {
  postgres = await startPostgres();
  const databaseUrl = await postgres.createDatabase();
  books = openWorkshopBooks(databaseUrl);
  const options: RigServerOptions = {
    databaseUrl,
    graphs: DEADLY_WORKSHOP,
    leaseMs: 2_000,
    reapEveryMs: 200,
    env: { WORKSHOP_FOLDER: books.folder, THROUGHLINE_OFFLINE_PACE_MS: "5", WORKSHOP_TOOL_MS: "20" },
  };
  [mortal, survivor] = await Promise.all([startServer(options), startServer(options)]);
});
afterAll(async () => {
  await Promise.all([mortal?.stop(), survivor?.stop()]);
  await books?.close();
  await postgres?.stop();
});

describe("A run of parallel nodes, a subgraph, tools and a question", () => {
  it("may be killed with its server after any of its chunks: another ends it, and shows what the checkpoint holds", async () => {
    const trials = trialsOr(USUAL_TRIALS);
    const fates = { kept: 0, retracted: 0 };
    await eachTrial(USUAL_TRIALS, async (random, index) => {
      // Spread over the whole run; with as many trials as there are chunks, each of them once.
      const place = trials < CHUNKS ? ((index + random()) * CHUNKS) / trials : index % CHUNKS;
      const { kept, retracted } = await killAfter(Math.floor(place), index);
      fates.kept += kept;
      fates.retracted += retracted;
    });
    if (trials < USUAL_TRIALS) return;
    expect(fates.kept).toBeGreaterThan(0);
    expect(fates.retracted).toBeGreaterThan(0);
  }, 3_600_000);
});

async function killAfter(chunk: number, index: number) {
  const threadId = randomUUID();
  const line = AG_UI_LINES[index % AG_UI_LINES.length] ?? "0.0.59";
  const watcher = returningClient(line, { url: mortal.url, agent: "workshop", threadId });
  const isAnswered = chunk >= CHUNKS_TO_QUESTION;
  watcher.say(`A door, please${isAnswered ? "" : `; die after chunk ${chunk}`}`);
  const asked = await watcher.run();
  const came = isAnswered
    ? await watcher.answer(`brass; die after chunk ${chunk - CHUNKS_TO_QUESTION}`)
    : asked;
  if (came === "ended") throw new Error(`The run ended before chunk ${chunk}.`);
  await mortal.kill();
  const [returned] = await Promise.all([watcher.connect(survivor.url), mortal.restart()]);
  expect(returned).toBe("ended");

  const checkpoint = await books.messages(threadId);
  const reloaded = returningClient(line, { url: mortal.url, agent: "workshop", threadId });
  expect(await reloaded.connect()).toBe("ended");
  for (const { messages } of [watcher, reloaded]) {
    expect(messageLines(messages)).toEqual(messageLines(checkpoint));
  }
  const log = await threadEnvelopes(survivor.url, "workshop", threadId);
  return expectTakeover({ log, checkpoint, marks: books.marks(threadId), isAnswered });
}
