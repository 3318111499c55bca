import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createScriptedProvider, type ScriptedProvider } from "../../testing/scripted-provider.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";
import { shownCronSchema, shownTickSchema } from "./crons.js";

const OWNER = { "x-throughline-account": "owner", "x-throughline-subject": "ann" };
const DAILY = { agent: "scripted", threadName: "daily", schedule: "0 9 * * *", timeZone: "Europe/Berlin" };

describe("/crons", () => {
  let server: TestServer;
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = createScriptedProvider();
    server = await startTestServer({ graphs: provider });
  });
  afterAll(() => server.close());

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = OWNER,
  ) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const create = async (more: object = {}) => {
    const response = await ask("POST", "/crons", { ...DAILY, ...more });
    expect(response.status).toBe(201);
    return shownCronSchema.strict().parse(await response.json());
  };
  const cronsOf = async (query: string, headers: Readonly<Record<string, string>>) =>
    z
      .object({ crons: z.array(shownCronSchema), next: z.string().nullable() })
      .parse(await (await ask("GET", `/crons${query}`, undefined, headers)).json());
  const ticksOf = async (id: string, query: string) =>
    z
      .object({ ticks: z.array(shownTickSchema), next: z.string().nullable() })
      .parse(await (await ask("GET", `/crons/${id}/ticks${query}`)).json());
  const failure = async (response: Response) => [
    response.status,
    z
      .object({ code: z.string(), details: z.object({ field: z.string() }).optional() })
      .parse(await response.json()).details?.field,
  ];

  it("creates, reads, changes, pauses, resumes and deletes", async () => {
    const cron = await create({ input: { message: "Good morning" } });
    expect(cron).toMatchObject({
      agent: "langgraph:scripted",
      threadName: "daily",
      input: { message: "Good morning" },
      overlap: "skip",
      missed: "skip",
      jitterMs: 0,
      enabled: true,
      model: null,
      lastTick: null,
    });
    const path = `/crons/${cron.id}`;
    expect(await (await ask("GET", path)).json()).toEqual(cron);
    const answer = await ask("PATCH", path, { overlap: "enqueue", timeZone: "UTC" });
    const changed = shownCronSchema.parse(await answer.json());
    expect(changed).toMatchObject({ overlap: "enqueue", input: cron.input });
    expect(changed.nextAt).toMatch(/T09:00:00.000Z$/);
    expect(await (await ask("POST", `${path}/pause`)).json()).toMatchObject({ enabled: false, nextAt: null });
    expect(await (await ask("POST", `${path}/resume`, {})).json()).toMatchObject({
      enabled: true,
      nextAt: changed.nextAt,
    });
    expect((await ask("DELETE", path)).status).toBe(204);
    expect((await ask("GET", path)).status).toBe(404);
    expect((await ask("DELETE", path)).status).toBe(404);
  });

  it("runs one now and tells what became of it", async () => {
    const { id } = await create({ threadName: "now" });
    const response = await ask("POST", `/crons/${id}/run`);
    expect(response.status).toBe(202);
    const tick = shownTickSchema.strict().parse(await response.json());
    const run = await provider.nextRun();
    expect(tick).toMatchObject({
      outcome: { kind: "started", runId: run.request.runId },
      runStatus: "running",
    });
    const busy = await ask("POST", `/crons/${id}/run`);
    expect(busy.status).toBe(409);
    expect(await busy.json()).toMatchObject({ code: "busy", details: { runId: run.request.runId } });
    run.end();
    const all = await ticksOf(id, "");
    expect(all.ticks.map(({ outcome }) => outcome.kind)).toEqual(["skipped", "started"]);
    const first = await ticksOf(id, "?limit=1");
    const rest = await ticksOf(id, `?limit=1&after=${first.next}`);
    expect([...first.ticks, ...rest.ticks].map((one) => one.id)).toEqual(all.ticks.map((one) => one.id));
    expect(rest.next).toBeNull();
  });

  it("lists page by page, and to nobody else", async () => {
    const headers = { "x-throughline-account": "lister" };
    for (const threadName of ["a", "b", "c"]) await ask("POST", "/crons", { ...DAILY, threadName }, headers);
    const first = await cronsOf("?limit=2", headers);
    const rest = await cronsOf(`?limit=2&after=${first.next}`, headers);
    const names = [...first.crons, ...rest.crons].map(({ threadName }) => threadName);
    expect(names.sort()).toEqual(["a", "b", "c"]);
    expect(rest.next).toBeNull();
    const stranger = { "x-throughline-account": "stranger" };
    expect(await (await ask("GET", "/crons", undefined, stranger)).json()).toEqual({ crons: [], next: null });
  });

  it("answers everybody but the owner as if there were no such cron", async () => {
    const { id } = await create();
    const strangers = [
      { "x-throughline-account": "stranger", "x-throughline-subject": "ann" },
      { "x-throughline-account": "owner" },
      { "x-throughline-account": "owner", "x-throughline-subject": "bob" },
    ];
    for (const headers of strangers) {
      for (const [method, path, body] of [
        ["GET", ""],
        ["PATCH", "", { enabled: false }],
        ["DELETE", ""],
        ["POST", "/run"],
        ["POST", "/pause"],
        ["POST", "/resume"],
        ["GET", "/ticks"],
      ] as const) {
        expect((await ask(method, `/crons/${id}${path}`, body, headers)).status).toBe(404);
      }
    }
    expect(await (await ask("GET", `/crons/${id}`)).json()).toMatchObject({ enabled: true, lastTick: null });
  });

  it("says when a schedule would run", async () => {
    const response = await ask("POST", "/crons/preview", {
      schedule: "0 0 1 1 *",
      timeZone: "UTC",
      count: 3,
    });
    const { times } = z.object({ times: z.array(z.string()) }).parse(await response.json());
    expect(times).toHaveLength(3);
    expect(times.every((time) => time.endsWith("-01-01T00:00:00.000Z"))).toBe(true);
  });

  it.each([
    [{ schedule: undefined }, "schedule"],
    [{ schedule: "99 * * * *" }, "schedule"],
    [{ timeZone: "Mars/Olympus" }, "timeZone"],
    [{ agent: "nobody" }, "agent"],
    [{ overlap: "maybe" }, "overlap"],
    [{ jitterMs: -1 }, "jitterMs"],
    [{ threadName: "" }, "threadName"],
    [{ input: { message: 7 } }, "input.message"],
    [{ input: { command: { name: "dance" } } }, "input.command.name"],
    [{ surprise: true }, "body"],
  ])("refuses %j and names the field", async (more, field) => {
    expect(await failure(await ask("POST", "/crons", { ...DAILY, ...more }))).toEqual([400, field]);
  });

  it("refuses pages it never gave, and a change of nothing", async () => {
    const { id } = await create();
    expect(await failure(await ask("GET", "/crons?after=x"))).toEqual([400, "after"]);
    expect(await failure(await ask("GET", `/crons/${id}/ticks?limit=0`))).toEqual([400, "limit"]);
    expect(await failure(await ask("PATCH", `/crons/${id}`, {}))).toEqual([400, "body"]);
    expect((await ask("PUT", `/crons/${id}`, {})).status).toBe(405);
  });
});
