import { randomUUID } from "node:crypto";
import { type AgentClientOptions, createAgentClient, type ThreadHandle } from "@throughline/agent-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTcpProxy } from "../executor/tcp-proxy.js";
import { startDeadlyWorkshop } from "../server/graphs/start-deadly-workshop.js";
import { talk } from "../server/graphs/talker.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { eachTrial } from "../server/rig/trials.js";
import { isOver, shownBy, streamedLength, until } from "./shown.js";
import { tokenFor } from "./token-for.js";

const PAGE_GRAPHS = new URL("./graphs/page-graphs.ts", import.meta.url);
/** A server that comes back is not waited for as long as a person would be kept waiting. */
const SOON = { firstRetryMs: 50, maxRetryMs: 400 };

let postgres: RigPostgres;
let server: RigServer;
let closing: (() => unknown)[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({
    databaseUrl: await postgres.createDatabase(),
    graphs: PAGE_GRAPHS,
    leaseMs: 2_000,
    reapEveryMs: 200,
    env: { THROUGHLINE_OFFLINE_PACE_MS: "3" },
  });
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});
afterAll(async () => {
  await server?.stop();
  await postgres?.stop();
});

function client(url: string, options: Partial<AgentClientOptions> = {}) {
  const created = createAgentClient({ url: `${url}/api/copilotkit`, connectionPolicy: SOON, ...options });
  closing.push(() => created.close());
  return created;
}

/** A page that is open. */
function page(url: string, agentId: string, threadId: string, options?: Partial<AgentClientOptions>) {
  const thread = client(url, options).thread(agentId, threadId);
  thread.open();
  return thread;
}

/** What a late joiner sees. */
async function latecomer(
  url: string,
  { agentId, threadId }: ThreadHandle,
  options?: Partial<AgentClientOptions>,
) {
  const thread = page(url, agentId, threadId, options);
  await until(thread, ({ view }) => view.run !== null);
  return thread;
}

const QUESTIONS = {
  "langgraph:poet": "a line about rivers",
  "langgraph:ponderer": "is it so?",
  "langgraph:chat": "what is 2 + 3, and the time in Paris?",
  "langgraph:researcher": "tides and the moon",
} as const;

describe("A client behind a proxy that cuts connections", () => {
  it("shows in the end what one shows that stayed", { timeout: 240_000 }, async () => {
    await eachTrial(12, async (random, index) => {
      const names = Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[];
      const agent = names[index % names.length] ?? "langgraph:poet";
      const proxy = await startTcpProxy(server.url, () => {
        let left = 200 + Math.floor(random() ** 2 * 20_000);
        return {
          onAnswer(bytes) {
            left -= bytes.length;
            return left > 0 ? "pass" : { cutAfter: Math.max(0, bytes.length + left) };
          },
        };
      });
      closing.push(() => proxy.stop());
      const threadId = `cut ${index} ${randomUUID()}`;
      const witness = page(server.url, agent, threadId);
      await until(witness, ({ view }) => view.run !== null);
      const cutOff = page(proxy.url, agent, threadId, {
        commandPolicy: { sendRetryMs: 50, sendRetries: 20 },
      });
      expect(await cutOff.send(QUESTIONS[agent])).toMatchObject({ kind: "done" });
      await Promise.all([until(witness, isOver), until(cutOff, isOver)]);
      await expect.poll(() => shownBy(cutOff)).toEqual(shownBy(witness));
      expect(shownBy(await latecomer(server.url, witness))).toEqual(shownBy(witness));
    });
  });
});

describe("A client that comes when a run is over", () => {
  it("shows that it failed, or was stopped, as one does that saw it", async () => {
    const thread = page(server.url, "langgraph:talker", randomUUID());
    const failed = await thread.send(talk({ words: 20, failAfterTokens: 5 }));
    expect(failed).toMatchObject({ kind: "done", status: "error" });
    const late = await latecomer(server.url, thread);
    expect(late.getSnapshot().view.run).toMatchObject({ status: "error", error: { code: "run_failed" } });
    expect(shownBy(late)).toEqual(shownBy(thread));

    const stopped = thread.send(talk({ words: 500, paceMs: 20 }));
    await until(thread, (snapshot) => streamedLength(snapshot) > 50);
    await thread.stop();
    expect(await stopped).toMatchObject({ kind: "done", status: "cancelled" });
    const later = await latecomer(server.url, thread);
    expect(later.getSnapshot().view.run).toMatchObject({ status: "cancelled", error: null });
    expect(shownBy(later)).toEqual(shownBy(thread));
  });
});

describe("A client whose server is restarted in the middle of a run", () => {
  it("comes back by itself, and shows what one shows that comes later", async () => {
    const thread = page(server.url, "langgraph:talker", randomUUID());
    const outcome = thread.send(talk({ words: 150, paceMs: 20 }));
    await until(thread, (snapshot) => streamedLength(snapshot) > 100);
    await server.stop();
    await server.restart();
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
    expect(shownBy(thread)).toEqual(shownBy(await latecomer(server.url, thread)));
  });
});

describe("A client whose server is killed", () => {
  it.each(["token", "tool", "nested", "question"])(
    "at a %s shows one run that was taken up, and its answer ends it",
    async (moment) => {
      const {
        server: workshop,
        books,
        close,
      } = await startDeadlyWorkshop(postgres, { tokenMs: 10, toolMs: 50 });
      closing.push(close);
      const thread = page(workshop.url, "langgraph:workshop", randomUUID());
      const outcome = thread.send(`A door, please; die at ${moment}`);
      await until(thread, ({ connection }) => connection.kind === "reconnecting");
      // It killed itself; this waits until it is gone.
      await workshop.kill();
      await workshop.restart();
      expect(await outcome).toMatchObject({ kind: "done", status: "interrupted" });
      expect(shownBy(thread)).toEqual(shownBy(await latecomer(workshop.url, thread)));
      const [question] = thread.getSnapshot().view.interrupts;
      expect(await thread.answer(question?.id ?? "", "brass")).toMatchObject({
        kind: "done",
        status: "success",
      });
      await until(thread, isOver);
      expect(shownBy(thread)).toEqual(shownBy(await latecomer(workshop.url, thread)));
      const told = thread.getSnapshot().view.messages.map(({ content }) => content);
      const saved = (await books.messages(thread.threadId)).map(({ content }) => content);
      expect(told.filter((text) => text !== "")).toEqual(saved.filter((text) => text !== ""));
    },
  );
});

describe("A client whose token expires", () => {
  it("asks for another and goes on where it was", async () => {
    const secret = randomUUID() + randomUUID();
    const guarded = await startServer({
      databaseUrl: await postgres.createDatabase(),
      graphs: PAGE_GRAPHS,
      env: { THROUGHLINE_JWT_SECRET: secret },
    });
    closing.push(() => guarded.stop());
    let renewals = 0;
    let token = await tokenFor(secret, 4);
    const headers = async ({ isRenewal }: { readonly isRenewal: boolean }) => {
      if (isRenewal) {
        renewals += 1;
        token = await tokenFor(secret, 60);
      }
      return { authorization: `Bearer ${token}` };
    };
    const thread = page(guarded.url, "langgraph:talker", "guarded", { headers });
    const outcome = thread.send(talk({ words: 120, paceMs: 60 }));
    expect(await outcome).toMatchObject({ kind: "done", status: "success" });
    expect(renewals).toBe(1);
    const other = await latecomer(guarded.url, thread, { headers });
    expect(shownBy(thread)).toEqual(shownBy(other));
  });

  it("says that signing in is needed when there is no other", async () => {
    const secret = randomUUID() + randomUUID();
    const guarded = await startServer({
      databaseUrl: await postgres.createDatabase(),
      env: { THROUGHLINE_JWT_SECRET: secret },
    });
    closing.push(() => guarded.stop());
    const thread = page(guarded.url, "langgraph:chat", "guarded", {
      headers: () => ({ authorization: "Bearer nonsense" }),
    });
    const { connection } = await until(thread, (snapshot) => snapshot.connection.kind === "failed");
    expect(connection).toMatchObject({ kind: "failed", reason: "unauthorized" });
    expect(await thread.send("hello")).toMatchObject({ kind: "refused", code: "unauthorized" });
  });
});
