import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents, typesOf } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { type DeadlyWorkshop, startDeadlyWorkshop } from "./graphs/start-deadly-workshop.js";
import { expectTakeover } from "./graphs/takeover-law.js";
import type { WorkshopBooks } from "./graphs/workshop-books.js";
import { agentRoutes } from "./rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import type { RigServer } from "./rig/start-server.js";
import { messageLines } from "./stock/message-lines.js";
import { AG_UI_LINES, type ReturningClient, returningClient } from "./stock/returning-client.js";
import { threadEnvelopes } from "./thread-envelopes.js";

let postgres: RigPostgres;
let workshop: DeadlyWorkshop;
let books: WorkshopBooks;
let server: RigServer;
beforeAll(async () => {
  postgres = await startPostgres();
  workshop = await startDeadlyWorkshop(postgres, { tokenMs: 15, toolMs: 100 });
  ({ books, server } = workshop);
});
afterAll(async () => {
  await workshop?.close();
  await postgres?.stop();
});

const endsOf = ({ types }: ReturningClient) =>
  types.filter((type) => type === "RUN_FINISHED" || type === "RUN_ERROR");

describe.each(AG_UI_LINES)("A server that is killed while HttpAgent %s watches a run", (line) => {
  const client = (threadId: string) =>
    returningClient(line, { url: server.url, agent: "workshop", threadId });

  it.each([
    ["before its first checkpoint", "start"],
    ["in the middle of a token", "token"],
    ["in the middle of a tool", "tool"],
    ["in a graph nested in a subgraph", "nested"],
    ["while it asks", "question"],
  ])("%s, takes the run up when it is back, and ends it once for everybody", async (_, moment) => {
    const threadId = randomUUID();
    const watcher = client(threadId);
    watcher.say(`A door, please; die at ${moment}`);
    expect(await watcher.run()).toBe("cut");
    // It killed itself; this waits until it is gone.
    await server.kill();
    await server.restart();

    const reloaded = client(threadId);
    expect(await Promise.all([watcher.connect(), reloaded.connect()])).toEqual(["ended", "ended"]);
    const checkpoint = await books.messages(threadId);
    const late = client(threadId);
    await late.connect();
    for (const one of [watcher, reloaded, late]) {
      expect(endsOf(one)).toEqual(["RUN_FINISHED"]);
      expect(messageLines(one.messages)).toEqual(messageLines(checkpoint));
    }
    const log = await threadEnvelopes(server.url, "workshop", threadId);
    expectTakeover({ log, checkpoint, marks: books.marks(threadId), isAnswered: false });
    expect(log.some(({ attempt }) => attempt > 0)).toBe(true);

    const answered = await agentRoutes(server.url).run("workshop", {
      threadId,
      forwardedProps: { command: { resume: "brass" } },
    });
    expect(typesOf(await readEvents(answered)).at(-1)).toBe("RUN_FINISHED");
    expect((await books.messages(threadId)).at(-1)?.content).toBe("the door hangs and closes");
  });

  it("right after an answer, gives the graph that answer, once", async () => {
    const threadId = randomUUID();
    const watcher = client(threadId);
    watcher.say("A door, please");
    expect(await watcher.run()).toBe("ended");
    expect(await watcher.answer("brass, and die at token")).toBe("cut");
    // It killed itself; this waits until it is gone.
    await server.kill();
    await server.restart();
    expect(await watcher.connect()).toBe("ended");
    const checkpoint = await books.messages(threadId);
    expect(messageLines(watcher.messages)).toEqual(messageLines(checkpoint));
    const log = await threadEnvelopes(server.url, "workshop", threadId);
    expectTakeover({ log, checkpoint, marks: books.marks(threadId), isAnswered: true });
  });
});
