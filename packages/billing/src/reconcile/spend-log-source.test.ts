import { createSimulatedClock, ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createLitellmAdmin } from "../litellm/admin.js";
import { madeFact, madeLabels } from "../testing/made-fact.js";
import { madeUnit } from "../testing/made-unit.js";
import { createSpendLogSource, readSpendLog, type SpendSource } from "./spend-log.js";

const ROW = {
  request_id: "chatcmpl-1",
  litellm_call_id: "u1",
  api_key: "a4a6",
  spend: 0.000017,
  prompt_tokens: 11,
  completion_tokens: 3,
  status: "success",
  cache_hit: "None",
  model_group: "cheap",
  startTime: "2026-11-17T08:00:00.000Z",
  endTime: "2026-11-17T08:00:01.500Z",
  metadata: { spend_logs_metadata: { usageUnitId: "u1" }, error_information: {}, user_api_key_alias: "vk" },
};

describe("a row of the spend logs", () => {
  it("is read as a fact", () => {
    const unit = madeUnit({ unitId: "u1", keyHash: "a4a6" });
    expect(readSpendLog(ROW)).toEqual(madeFact(unit, { endedAt: Date.UTC(2026, 10, 17, 8, 0, 1, 500) }));
  });

  it("is read with its labels, if they are of our making", () => {
    const labels = madeLabels(madeUnit());
    const claiming = (claim: unknown) => readSpendLog({ ...ROW, metadata: { spend_logs_metadata: claim } });
    expect(claiming(labels)).toMatchObject({ unitId: labels.usageUnitId, labels });
    expect(claiming({ ...labels, usageUnitId: "\u0000" })).toMatchObject({ unitId: null, labels: {} });
    expect(claiming(7)).toMatchObject({ unitId: null, labels: {} });
  });

  it("is read with its metadata as text, without a zone, of a hit and of a failure", () => {
    const failed = {
      ...ROW,
      status: "failure",
      cache_hit: "True",
      endTime: "2026-11-17T08:00:01.500",
      metadata: JSON.stringify({ spend_logs_metadata: null, error_information: { error_code: "500" } }),
    };
    expect(readSpendLog(failed)).toMatchObject({
      status: "failure",
      isCacheHit: true,
      unitId: null,
      errorCode: "500",
      endedAt: Date.UTC(2026, 10, 17, 8, 0, 1, 500),
    });
    expect(readSpendLog({ ...ROW, litellm_call_id: null, metadata: "nonsense" })).toMatchObject({
      callId: "chatcmpl-1",
      unitId: null,
    });
    expect(readSpendLog({ request_id: "x" })).toBeUndefined();
  });
});

describe("the spend logs", () => {
  function scene(answers: (url: URL) => unknown) {
    const asked: URL[] = [];
    const keys = new Set<string | null>();
    const admin = createLitellmAdmin({
      baseUrl: "http://litellm.test:4000/v1/",
      serviceKey: "sk-service",
      send: async (input, init) => {
        const url = new URL(String(input));
        asked.push(url);
        keys.add(new Headers(init?.headers).get("authorization"));
        const answer = answers(url);
        return answer instanceof Response ? answer : Response.json(answer);
      },
    });
    const clock = createSimulatedClock(Date.UTC(2026, 10, 17, 9, 30, 0, 700));
    return { asked, keys, clock, source: createSpendLogSource({ admin, clock }) };
  }

  /** A full page of rows that ended at this time. */
  const fullPage = (endTime: string) => Array.from({ length: 500 }, () => ({ ...ROW, endTime }));

  async function readAll(source: SpendSource, since?: number) {
    const ids: string[] = [];
    let position: string | undefined;
    for await (const batch of source.read(since === undefined ? undefined : String(since))) {
      ids.push(...batch.facts.map(({ callId }) => callId));
      position = batch.position;
    }
    return { ids, position };
  }

  it("are read with both dates in the one form they take", async () => {
    const { asked, keys, source } = scene(() => ({ data: [ROW], total_pages: 1 }));
    expect(await readAll(source)).toEqual({
      ids: ["u1"],
      position: String(Date.UTC(2026, 10, 17, 9, 30, 0, 700)),
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.pathname).toBe("/spend/logs/v2");
    expect(asked[0]?.searchParams.get("start_date")).toBe("2026-11-17 08:15:00");
    expect(asked[0]?.searchParams.get("end_date")).toBe("2026-11-17 09:30:00");
    expect([...keys]).toEqual(["Bearer sk-service"]);
  });

  it("are read to the page that is not full, for LiteLLM counts no more than 10,000 rows", async () => {
    const { asked, source } = scene((url) => ({
      data:
        url.searchParams.get("page") === "22"
          ? [{ ...ROW, litellm_call_id: "last" }]
          : fullPage("2026-11-17T09:29:00.000Z"),
      total_pages: 20,
      total_is_capped: true,
    }));
    const { ids } = await readAll(source);
    expect(asked).toHaveLength(22);
    expect(ids.at(-1)).toBe("last");
  });

  it("are read by when a call ended, however early it started, and no further back", async () => {
    const { asked, clock, source } = scene((url) => ({
      data: fullPage(url.searchParams.get("page") === "1" ? "2026-11-17T09:29:00Z" : "2026-11-17T09:27:59Z"),
    }));
    const since = clock.now();
    clock.advance(60_000);
    expect((await readAll(source, since)).ids).toHaveLength(1_000);
    expect(asked.map(({ searchParams }) => Object.fromEntries(searchParams))).toMatchObject(
      ["1", "2"].map((page) => ({
        page,
        start_date: "2026-11-17 09:13:00",
        sort_by: "endTime",
        sort_order: "desc",
      })),
    );
  });

  it("are read again for the last two minutes, and in windows after a long pause", async () => {
    const { asked, clock, source } = scene(() => ({ data: [] }));
    const since = clock.now();
    clock.advance(2 * 3_600_000);
    await readAll(source, since);
    expect(asked.map((url) => url.searchParams.get("end_date"))).toEqual([
      "2026-11-17 10:28:00",
      "2026-11-17 11:28:00",
      "2026-11-17 11:30:00",
    ]);
  });

  it("are asked for a unit by its id", async () => {
    const { asked, source } = scene(() => [ROW]);
    expect(await source.factsOf?.(["u1"])).toMatchObject([{ callId: "u1" }]);
    expect(`${asked[0]?.pathname}${asked[0]?.search}`).toBe("/spend/logs?request_id=u1");
  });

  it("prove that a row is missing only while LiteLLM has its database", async () => {
    let db = "connected";
    const { source } = scene(() => ({ status: "healthy", db }));
    expect(await source.isComplete()).toBe(true);
    db = "Not connected";
    expect(await source.isComplete()).toBe(false);
    const { source: away } = scene(() => Response.json({ db: "disconnected" }, { status: 503 }));
    expect(await away.isComplete()).toBe(false);
  });

  it("that can't be read are an outage of LiteLLM, told without its words", async () => {
    const { source } = scene(() => new Response('{"error":"sk-secret"}', { status: 500 }));
    const failure = await source.factsOf?.(["u1"]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ThroughlineError);
    expect(failure).toMatchObject({ code: "upstream_unavailable" });
    expect(String(failure)).not.toContain("sk-secret");
  });
});

it("tells a key that LiteLLM refuses from a LiteLLM that is away", async () => {
  const admin = createLitellmAdmin({
    baseUrl: "http://litellm.test",
    serviceKey: "sk-service",
    send: async () => Response.json({ error: { message: "sk-secret" } }, { status: 401 }),
  });
  await expect(admin.read("/model_group/info", {}, "sk-tenant")).rejects.toMatchObject({
    code: "unauthorized",
  });
});

describe("registering a key", () => {
  const key = {
    token: "sk-new-0123456789abcdef",
    alias: "throughline:a:vk",
    metadata: {},
    limits: { max_budget: 5 },
  };
  const taken = () => Response.json({ error: { message: "…", param: "key_alias" } }, { status: 400 });

  function admin(answer: (path: string, body: string) => Response) {
    return createLitellmAdmin({
      baseUrl: "http://litellm.test",
      serviceKey: "sk-service",
      send: async (input, init) => answer(new URL(String(input)).pathname, String(init?.body)),
    });
  }

  it("sends our own token with its limits", async () => {
    const bodies: unknown[] = [];
    await admin((_, body) => {
      bodies.push(JSON.parse(body));
      return Response.json({});
    }).registerKey(key);
    expect(bodies).toEqual([{ max_budget: 5, key: key.token, key_alias: key.alias, metadata: {} }]);
  });

  it("is done when this key has the alias already", async () => {
    await admin((path) => (path === "/key/info" ? Response.json({}) : taken())).registerKey(key);
  });

  it("fails when another key has the alias, or LiteLLM refuses, without naming the token", async () => {
    for (const answer of [
      (path: string) => (path === "/key/info" ? Response.json({}, { status: 404 }) : taken()),
      () => Response.json({ error: { message: key.token } }, { status: 403 }),
    ]) {
      const failure = await admin(answer)
        .registerKey(key)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "upstream_unavailable" });
      expect(String(failure)).not.toContain(key.token);
    }
  });
});
