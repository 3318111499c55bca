import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../config/read-config.js";
import { startTestServer } from "../../handler/testing/test-server.js";
import { recordedTerminal } from "../../testing/recorded-terminal.js";
import { openTestPostgres } from "../../testing/test-postgres.js";
import { runCli } from "../run-cli.js";
import { checkDatabase } from "./check-database.js";
import { checkDisk, checkNode, checkPort } from "./check-machine.js";
import { checkGraphs, checkLitellm, checkRedis } from "./check-services.js";

/** Answers every request with one status: a proxy as far as the doctor looks. */
async function answering(status: number): Promise<Server> {
  const server = createServer((_, response) => response.writeHead(status).end("{}"));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe("the machine", () => {
  it("needs a Node that is new enough", () => {
    expect(checkNode("20.19.0").status).toBe("ok");
    expect(checkNode("24.0.0").status).toBe("ok");
    expect(checkNode("20.18.1")).toMatchObject({ status: "fail", fix: expect.stringContaining("20.19") });
  });

  it("needs a port that is free, or taken by a server of ours", async () => {
    const other = await answering(200);
    expect(await checkPort("127.0.0.1", portOf(other))).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("--port"),
    });
    other.close();
    const ours = await startTestServer();
    const found = await checkPort("127.0.0.1", Number(new URL(ours.url).port));
    expect(found).toMatchObject({ status: "ok", said: expect.stringContaining("answers at") });
    await ours.close();
    expect((await checkPort("127.0.0.1", 0)).status).toBe("ok");
  });

  it("tells how much room there is, also for a folder that is not there yet", async () => {
    expect(await checkDisk(join(tmpdir(), "not", "there"))).toMatchObject({
      said: expect.stringMatching(/GB are free at/),
    });
  });
});

describe("the database", () => {
  it("answers, is on time, and says what will be made in it", async () => {
    const postgres = await openTestPostgres();
    try {
      const findings = await checkDatabase({ databaseUrl: postgres.url, dataDir: undefined });
      expect(findings.map(({ subject, status }) => `${subject} ${status}`)).toEqual([
        "database ok",
        "clock ok",
        "tables ok",
      ]);
      const late = { ...systemClock, now: () => systemClock.now() - 60_000 };
      const [, clock] = await checkDatabase({ databaseUrl: postgres.url, dataDir: undefined }, late);
      expect(clock).toMatchObject({ status: "warn", fix: expect.stringContaining("timedatectl") });
      const other = new URL(postgres.url);
      other.pathname = "/not_there";
      const missing = await checkDatabase({ databaseUrl: other.href, dataDir: undefined });
      expect(missing).toMatchObject([{ status: "fail", fix: expect.stringContaining("createdb") }]);
    } finally {
      await postgres.close();
    }
  }, 60_000);

  it("is not there: says what to check, never the password", async () => {
    const findings = await checkDatabase({
      databaseUrl: "postgres://me:hunter2@127.0.0.1:9/x",
      dataDir: undefined,
    });
    expect(findings).toMatchObject([
      { status: "fail", fix: expect.stringContaining("LANGGRAPH_DATABASE_URL") },
    ]);
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });
});

describe("services", () => {
  it("are optional", async () => {
    expect((await checkRedis(undefined)).map(({ status }) => status)).toEqual(["ok"]);
    expect((await checkLitellm(readConfig({}))).status).toBe("ok");
    expect((await checkGraphs(readConfig({}), undefined)).said).toContain("chat, poet");
  });

  it("that are named must answer", async () => {
    expect(await checkRedis("redis://127.0.0.1:9")).toMatchObject([
      { status: "fail", fix: expect.stringContaining("REDIS_URL") },
    ]);
    const lost = readConfig({
      LITELLM_BASE_URL: "http://127.0.0.1:9",
      LANGGRAPH_DEV_URL: "http://127.0.0.1:9",
    });
    expect(await checkLitellm(lost)).toMatchObject({ status: "fail" });
    expect(await checkGraphs(lost, undefined)).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("LANGGRAPH_DEV_URL"),
    });
  });

  it.each([
    [200, "k", "ok", undefined],
    [401, "k", "fail", "Set LITELLM_API_KEY to a valid key."],
    [401, "", "warn", "Set LITELLM_API_KEY."],
    [404, "k", "warn", "Check LITELLM_BASE_URL: it should end where /models follows."],
  ])("LiteLLM that answers %i to key %j is %s", async (code, key, status, fix) => {
    const proxy = await answering(code);
    const config = readConfig({
      LITELLM_BASE_URL: `http://127.0.0.1:${portOf(proxy)}`,
      LITELLM_API_KEY: key,
    });
    expect(await checkLitellm(config)).toMatchObject({ status, ...(fix && { fix }) });
    proxy.close();
  });
});

describe("throughline doctor", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "doctor-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("tells a line for each finding, and fails when one must be mended", async () => {
    writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: { lost: "./lost.ts:graph" } }));
    const env = {
      LANGGRAPH_DATABASE_URL: "postgres://127.0.0.1:9/x",
      THROUGHLINE_HOST: "0.0.0.0",
      PORT: "0",
    };
    const terminal = recordedTerminal({ env, cwd: folder });
    expect(await runCli(["doctor"], { terminal })).toBe(1);
    expect(terminal.printed()).toMatch(/^ok {4}node /);
    expect(terminal.printed()).toMatch(/\nfail {2}sign-in .*\n +Set THROUGHLINE_JWT_SECRET/);
    expect(terminal.printed()).toMatch(/\nfail {2}database /);
    expect(terminal.printed()).toMatch(/\nfail {2}graphs .*lost\.ts: there is no such file/);
    const json = recordedTerminal({ env, cwd: folder });
    await runCli(["doctor", "--json"], { terminal: json });
    expect(JSON.parse(json.printed())).toContainEqual(
      expect.objectContaining({ subject: "database", status: "fail" }),
    );
  });

  it("stops at settings that can't be read: nothing after them would mean anything", async () => {
    const terminal = recordedTerminal({ env: { PORT: "eighty" } });
    expect(await runCli(["doctor"], { terminal })).toBe(1);
    expect(terminal.printed().trim().split("\n").at(-2)).toMatch(
      /^fail {2}settings +PORT takes a whole number/,
    );
  });
});
