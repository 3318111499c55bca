import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig, type ServerConfig } from "../settings/server-config.js";
import { catalogGraphs } from "../testing/catalog-graphs.js";
import { readEvents, typesOf } from "../testing/sse-events.js";
import { type RunningServer, startServer } from "./start-server.js";

const DEMO = { service: { graphs: catalogGraphs() } };
const SECRET = "a secret that is long enough to be one";

let folder: string;
let server: RunningServer;
let config: ServerConfig;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "throughline-serve-"));
  // As root PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  const env = { THROUGHLINE_DATA_DIR: folder, THROUGHLINE_LOG_LEVEL: "silent", PORT: "0" };
  config = readConfig({ ...env, LANGGRAPH_DATABASE_URL: process.env.LANGGRAPH_DATABASE_URL });
  server = await startServer(config, DEMO);
}, 60_000);
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

function post(
  url: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/api/copilotkit${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const hello = { threadId: "kept", messages: [{ id: "m1", role: "user", content: "hello" }] };

describe("a server without graphs", () => {
  it("says how to name or make a project, and starts nothing", async () => {
    await expect(startServer(config)).rejects.toThrow(
      /no langgraph\.json here.*--config.*npm create throughline/,
    );
  });
});

describe("the whole server on PostgreSQL", () => {
  it("runs an agent and shows the thread to whoever connects", async () => {
    expect(server.agents).toContain("langgraph:travel");
    const run = await readEvents(await post(server.url, "/agent/poet/run", hello));
    expect(typesOf(run).at(-1)).toBe("RUN_FINISHED");
    const connected = await readEvents(await post(server.url, "/agent/poet/connect", { threadId: "kept" }));
    expect(typesOf(connected)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
  });

  it("asks a question and takes its answer", async () => {
    const messages = [{ id: "m1", role: "user", content: "plan a trip" }];
    const asked = await readEvents(
      await post(server.url, "/agent/travel/run", { threadId: "trip", messages }),
    );
    const question = asked.find(({ data }) => data.name === "on_interrupt");
    const { options } = JSON.parse(String(question?.data.value));
    const forwardedProps = { command: { resume: options[0] } };
    const answered = await readEvents(
      await post(server.url, "/agent/travel/run", { threadId: "trip", messages: [], forwardedProps }),
    );
    expect(answered.filter(({ data }) => data.name === "on_interrupt")).toHaveLength(1);
  });

  it("holds more than one instance, and each shows what the other ran", async () => {
    const signIn = { kind: "jwt", keys: { secret: SECRET }, claims: { subject: null } } as const;
    const second = await startServer({ ...config, signIn }, DEMO);
    try {
      const token = await new SignJWT({ billing_account_id: "dev" })
        .setProtectedHeader({ alg: "HS256" })
        .setExpirationTime("1m")
        .sign(new TextEncoder().encode(SECRET));
      const path = "/agent/poet/connect";
      expect((await post(second.url, path, { threadId: "kept" })).status).toBe(401);
      const authorization = `Bearer ${token}`;
      const seen = await readEvents(await post(second.url, path, { threadId: "kept" }, { authorization }));
      const mine = await readEvents(await post(server.url, path, { threadId: "kept" }));
      expect(seen).toEqual(mine);
    } finally {
      await second.close();
    }
  });

  it("refuses to start open where others can reach it, before it starts anything", async () => {
    await expect(startServer({ ...config, host: "0.0.0.0" }, DEMO)).rejects.toThrow(
      "Set THROUGHLINE_JWT_SECRET",
    );
  });

  it("names the address of a database that does not answer, and keeps its password to itself", async () => {
    const databaseUrl = "postgres://ann:hidden-word@127.0.0.1:1/x";
    const failure = await startServer({ ...config, databaseUrl }, DEMO).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1:1\. Check LANGGRAPH_DATABASE_URL/),
    });
    expect(String(failure)).not.toContain("hidden-word");
  });

  it("says which port is taken", async () => {
    const port = Number(new URL(server.url).port);
    await expect(startServer({ ...config, port }, DEMO)).rejects.toThrow(`Port ${port}`);
  });
});
