import { createSimulatedClock, StoreOutage, ThroughlineError } from "@throughline/ai-core";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { hashKey } from "../keys/resolvers.js";
import type { LedgerStore } from "../ledger/ledger.js";
import { createMemoryLedgerStore } from "../memory.js";
import {
  type Answer,
  CHAT_EVENTS,
  ERROR_EVENTS,
  errorAnswer,
  plainAnswer,
  streamAnswer,
  unpricedAnswer,
} from "../testing/litellm-answers.js";
import { madeRun } from "../testing/made-run.js";
import type { MeterObserver } from "./events.js";
import { installFetch } from "./install-fetch.js";
import { createMeteredFetch, type MeteredRun, type MeterOptions, withMeteredRun } from "./metered-fetch.js";

const BASE = "http://litellm.test:4000/v1";
const CHAT = `${BASE}/chat/completions`;
const BODY = JSON.stringify({ model: "cheap", messages: [] });
const RUN = madeRun("a");

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  /** The states of all units at that moment. */
  readonly unitStates: readonly string[];
}

let ledger: LedgerStore;
let sent: Sent[];
let events: string[];
beforeEach(() => {
  ledger = createMemoryLedgerStore();
  sent = [];
  events = [];
});

const observer: MeterObserver = {
  priced: (_, { amount, evidence }) => events.push(`priced ${amount} ${evidence}`),
  doubted: (_, reason) => events.push(`doubted ${reason}`),
  refused: (code) => events.push(`refused ${code}`),
  billingFailed: () => events.push("billing failed"),
  servedOther: (_, model) => events.push(`served ${model}`),
  escaped: ({ origin, path }) => events.push(`escaped ${origin}${path}`),
};

async function unitsOf(runId: string) {
  const all = await Promise.all(
    (["in_doubt", "settled", "unresolved"] as const).map((state) =>
      ledger.list({ state, olderThanMs: -1_000, limit: 1_000 }),
    ),
  );
  return all.flat().filter((unit) => unit.runId === runId);
}

/** A metered fetch whose LiteLLM gives this answer. */
function meterOf(
  answer: Answer | (() => Promise<Response>),
  options: Partial<MeterOptions> = {},
): typeof fetch {
  return createMeteredFetch({
    baseUrl: BASE,
    ledger,
    keys: { resolveKey: async (id, account) => `sk-${account}-${id}` },
    observer,
    send: async (input, init) => {
      const request = new Request(input, init);
      const unitStates = (await unitsOf(RUN.runId)).map(({ state }) => state);
      sent.push({ url: request.url, headers: request.headers, unitStates });
      init?.signal?.throwIfAborted();
      return answer();
    },
    ...options,
  });
}

function post(meter: typeof fetch, init: RequestInit = {}, run: MeteredRun = RUN): Promise<Response> {
  return withMeteredRun(run, () => meter(CHAT, { method: "POST", body: BODY, ...init }));
}

async function onlyUnit() {
  const units = await unitsOf(RUN.runId);
  expect(units).toHaveLength(1);
  const [unit] = units;
  if (!unit) throw new Error("no unit");
  return unit;
}

describe("a metered request", () => {
  it("is recorded in doubt before it is sent", async () => {
    await post(meterOf(plainAnswer()));
    expect(sent[0]?.unitStates).toEqual(["in_doubt"]);
  });

  it("waits for a ledger that is away for a moment", async () => {
    let failures = 2;
    const flaky: LedgerStore = {
      ...ledger,
      async open(unit) {
        if (failures-- > 0) throw new StoreOutage(new Error("away"));
        await ledger.open(unit);
      },
    };
    expect((await post(meterOf(plainAnswer(), { ledger: flaky }))).status).toBe(200);
    expect(await unitsOf(RUN.runId)).toHaveLength(1);
  });

  it("is not sent when it can't be recorded", async () => {
    const failing = { ...ledger, open: () => Promise.reject(new StoreOutage(new Error("away"))) };
    const response = await post(meterOf(plainAnswer(), { ledger: failing, openTimeoutMs: 0 }));
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([503, "true"]);
    expect([sent, events]).toEqual([[], ["refused store_unavailable"]]);
  });

  it("carries the tenant's key and labels, whatever the graph had set", async () => {
    const own = {
      authorization: "Bearer sk-graph",
      "x-api-key": "sk-graph",
      "x-litellm-api-key": "sk-graph",
      "x-litellm-call-id": "mine",
      "x-litellm-session-id": "mine",
      "x-litellm-trace-id": "mine",
      "x-litellm-spend-logs-metadata": "{}",
      "x-other": "kept",
    };
    await post(meterOf(plainAnswer()), { headers: own });
    const unit = await onlyUnit();
    const headers = sent[0]?.headers ?? new Headers();
    expect([...headers.values()].join(" ")).not.toMatch(/sk-graph|mine/);
    expect(headers.get("authorization")).toBe("Bearer sk-a-vk-a");
    expect(headers.get("x-litellm-call-id")).toBe(unit.unitId);
    expect(headers.get("x-litellm-session-id")).toBe(RUN.runId);
    expect(headers.get("x-litellm-trace-id")).toBeNull();
    expect(headers.get("x-other")).toBe("kept");
    expect(JSON.parse(headers.get("x-litellm-spend-logs-metadata") ?? "")).toEqual({
      accountId: "a",
      virtualKeyId: "vk-a",
      runId: RUN.runId,
      attempt: 0,
      usageUnitId: unit.unitId,
      threadId: "thread-1",
      requestId: "req-1",
      traceId: "trace-1",
      executorType: "inproc",
    });
  });

  it("carries labels that are no ASCII", async () => {
    await post(meterOf(plainAnswer()), {}, { ...RUN, ingressRequestId: "Prüf-🧪" });
    const label = sent[0]?.headers.get("x-litellm-spend-logs-metadata") ?? "";
    expect(JSON.parse(label)).toMatchObject({ requestId: "Prüf-🧪" });
  });

  it("names the key's hash in its record, and the key nowhere", async () => {
    await post(meterOf(plainAnswer()));
    const unit = await onlyUnit();
    expect(unit.keyHash).toBe(hashKey("sk-a-vk-a"));
    expect(
      JSON.stringify(unit, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain("sk-a");
  });

  it("is understood as an address, a URL and a Request", async () => {
    const meter = meterOf(plainAnswer());
    await withMeteredRun(RUN, async () => {
      await meter(new URL(CHAT), { method: "post", body: BODY });
      await meter(new Request(CHAT, { method: "POST", body: BODY, headers: { "x-own": "1" } }));
    });
    expect((await unitsOf(RUN.runId)).map(({ model }) => model)).toEqual(["cheap", "cheap"]);
    expect(sent[1]?.headers.get("x-own")).toBe("1");
  });

  it("is one unit per try of a client library, numbered within the attempt", async () => {
    const meter = meterOf(errorAnswer(500, { "x-litellm-response-cost": "0" }));
    await post(meter);
    await post(meter);
    await post(meter, {}, { ...RUN, attempt: 1 });
    const numbers = (await unitsOf(RUN.runId)).map(({ attempt, ordinal }) => `${attempt}/${ordinal}`);
    expect(numbers.sort()).toEqual(["0/1", "0/2", "1/1"]);
  });
});

describe("a plain answer", () => {
  it("is charged once with the header's cost and the body's tokens, and handed on whole", async () => {
    const response = await post(meterOf(plainAnswer()));
    expect(await response.json()).toMatchObject({ id: "chatcmpl-up-1" });
    expect(await onlyUnit()).toMatchObject({
      state: "settled",
      billed: 17_000_000n,
      evidence: "response_header",
      seen: { inputTokens: 11, outputTokens: 3, servedModel: "cheap", responseId: "chatcmpl-up-1" },
    });
    expect(await ledger.receipts(RUN.runId)).toHaveLength(1);
  });

  it("of another model than was asked for is told", async () => {
    await post(
      meterOf(plainAnswer({ "x-litellm-model-group": "dear", "x-litellm-attempted-fallbacks": "1" })),
    );
    expect(events).toEqual(["served dear", "priced 17000000 response_header"]);
    expect((await onlyUnit()).seen).toMatchObject({ servedModel: "dear", fallbacks: 1 });
  });

  it.each<[string, Answer, string]>([
    ["from the cache costs nothing", plainAnswer({ "x-litellm-cache-key": "k" }), "priced 0 cache_hit"],
    ["without a price is in doubt", unpricedAnswer, "doubted unpriced"],
    ["that refuses the key costs nothing", errorAnswer(401), "priced 0 refused"],
    ["that failed somewhere is in doubt", errorAnswer(502), "doubted http_error"],
  ])("%s", async (_, answer, expected) => {
    const response = await post(meterOf(answer));
    expect(events).toEqual([expected]);
    expect((await response.text()).length).toBeGreaterThan(0);
  });

  it("whose body breaks off is in doubt", async () => {
    const broken = () =>
      new Response(
        new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }),
        { headers: { "content-type": "application/json", "x-litellm-response-cost": "1" } },
      );
    await expect(post(meterOf(broken))).rejects.toThrow("terminated");
    expect(events).toEqual(["doubted no_response"]);
  });
});

describe("a streamed answer", () => {
  it("is charged before its end mark is handed on, and not before", async () => {
    const response = await post(meterOf(streamAnswer(CHAT_EVENTS)));
    const reader = response.body?.getReader();
    const states: string[] = [];
    for (;;) {
      const chunk = await reader?.read();
      if (!chunk?.value) break;
      states.push((await onlyUnit()).state);
    }
    expect(states).toEqual([...CHAT_EVENTS.slice(1).map(() => "in_doubt"), "settled"]);
    expect(await onlyUnit()).toMatchObject({
      billed: 17_000_000n,
      evidence: "last_event",
      seen: { inputTokens: 11, outputTokens: 3, responseId: "chatcmpl-up-2" },
    });
  });

  it("is handed on in the very chunks that came, without a copy", async () => {
    const chunks = CHAT_EVENTS.map((event) => new TextEncoder().encode(event));
    const response = await post(meterOf(streamAnswer(chunks)));
    const got: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) got.push(chunk);
    expect(got).toHaveLength(chunks.length);
    for (const [index, chunk] of got.entries()) expect(chunk).toBe(chunks[index]);
  });

  it.each<[string, Answer, string]>([
    [
      "from the cache costs nothing",
      streamAnswer(CHAT_EVENTS, { headers: { "x-litellm-cache-key": "k" } }),
      "priced 0 cache_hit",
    ],
    ["that tells an error is in doubt", streamAnswer(ERROR_EVENTS), "doubted stream_error"],
    ["without its end mark is in doubt", streamAnswer(CHAT_EVENTS.slice(0, -1)), "doubted truncated"],
    [
      "without a cost is in doubt",
      streamAnswer([CHAT_EVENTS[0] ?? "", "data: [DONE]\n\n"]),
      "doubted unpriced",
    ],
  ])("%s", async (_, answer, expected) => {
    await (await post(meterOf(answer))).text();
    expect(events).toEqual([expected]);
  });

  it("that breaks off is in doubt, and breaks off for its reader", async () => {
    const response = await post(meterOf(streamAnswer(CHAT_EVENTS.slice(0, 2), { breaks: true })));
    await expect(response.text()).rejects.toThrow("terminated");
    expect(events).toEqual(["doubted truncated"]);
  });

  it("whose reader leaves is in doubt at once", async () => {
    const response = await post(meterOf(streamAnswer(CHAT_EVENTS)));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(events).toEqual(["doubted cancelled"]);
  });

  it("that is aborted is in doubt, also when no one reads on", async () => {
    const controller = new AbortController();
    const response = await post(meterOf(streamAnswer(CHAT_EVENTS)), { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await expect.poll(() => events).toEqual(["doubted aborted"]);
  });

  it("that is aborted after its end stays charged", async () => {
    const controller = new AbortController();
    await (await post(meterOf(streamAnswer(CHAT_EVENTS)), { signal: controller.signal })).text();
    controller.abort();
    expect(events).toEqual(["priced 17000000 last_event"]);
  });
});

describe("a request that gets no answer", () => {
  const failWith = (code: string) => () =>
    Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) }));

  it("costs nothing when LiteLLM was not reached", async () => {
    await expect(post(meterOf(failWith("ECONNREFUSED")))).rejects.toThrow("fetch failed");
    expect(events).toEqual(["priced 0 not_sent"]);
  });

  it("is in doubt when the connection broke", async () => {
    await expect(post(meterOf(failWith("ECONNRESET")))).rejects.toThrow("fetch failed");
    expect(events).toEqual(["doubted no_response"]);
  });

  it("is no request when it was aborted before", async () => {
    await expect(post(meterOf(plainAnswer()), { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(await unitsOf(RUN.runId)).toEqual([]);
  });

  it("costs nothing when it was aborted while it was recorded", async () => {
    const controller = new AbortController();
    const slow: LedgerStore = {
      ...ledger,
      open: async (unit) => {
        await ledger.open(unit);
        controller.abort();
      },
    };
    await expect(
      post(meterOf(plainAnswer(), { ledger: slow }), { signal: controller.signal }),
    ).rejects.toThrow();
    expect([sent, events]).toEqual([[], ["priced 0 not_sent"]]);
  });
});

describe("a refusal", () => {
  it("answers calls outside any run, and sends and records nothing", async () => {
    const response = await meterOf(plainAnswer())(CHAT, { method: "POST", body: BODY });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([403, "false"]);
    expect(await response.json()).toMatchObject({ error: { type: "forbidden" } });
    expect([sent, events]).toEqual([[], ["refused forbidden"]]);
  });

  it.each([
    ["a check", { checks: [() => Promise.reject(new ThroughlineError("budget_exceeded", "Over."))] }, 402],
    [
      "a missing key",
      { keys: { resolveKey: () => Promise.reject(new ThroughlineError("unauthorized", "No.")) } },
      401,
    ],
    ["a bug", { keys: { resolveKey: () => Promise.reject(new Error("sk-secret")) } }, 500],
  ])("of %s is an answer that no library retries, without a unit", async (_, options, status) => {
    const response = await post(meterOf(plainAnswer(), options));
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([status, "false"]);
    expect(await response.text()).not.toContain("sk-secret");
    expect(await unitsOf(RUN.runId)).toEqual([]);
    expect(sent).toEqual([]);
  });

  it("is decided with the model and the key of the call", async () => {
    const seen: unknown[] = [];
    await post(meterOf(plainAnswer(), { checks: [async (call) => void seen.push(call)] }));
    expect(seen).toEqual([{ run: RUN, model: "cheap", token: "sk-a-vk-a" }]);
  });
});

describe("a ledger that is away at the end of a call", () => {
  it("delays the answer a little and never breaks it", async () => {
    const clock = createSimulatedClock();
    const away: LedgerStore = { ...ledger, charge: () => Promise.reject(new StoreOutage(new Error("away"))) };
    const answering = post(
      meterOf(plainAnswer(), { ledger: away, clock, holdMs: 2_000, writeTimeoutMs: 10_000 }),
    );
    let answered = false;
    void answering.then(() => {
      answered = true;
    });
    // Time passes only as the meter waits for it.
    while (!answered) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
    expect(clock.now()).toBeGreaterThanOrEqual(2_000);
    expect(clock.now()).toBeLessThan(5_000);
    expect((await answering).status).toBe(200);
    for (let turn = 0; turn < 200 && events.length === 0; turn++) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
    expect(events).toEqual(["billing failed"]);
    expect((await onlyUnit()).state).toBe("in_doubt");
  });
});

describe("what is not LiteLLM's", () => {
  it.each([
    ["https://api.openai.com/v1/chat/completions", true],
    ["https://api.anthropic.com/v1/messages", true],
    ["https://generativelanguage.googleapis.com/v1beta/models/x:streamGenerateContent", true],
    ["https://example.com/webhook", false],
    ["http://litellm.test:4001/v1/embeddings", true],
  ])("goes to %s untouched, told as escaped: %s", async (url, isEscaped) => {
    const meter = meterOf(plainAnswer());
    await withMeteredRun(RUN, () =>
      meter(url, { method: "POST", body: "{}", headers: { authorization: "own" } }),
    );
    expect(sent[0]?.headers.get("authorization")).toBe("own");
    expect(sent[0]?.headers.get("x-litellm-call-id")).toBeNull();
    expect(events).toEqual(isEscaped ? [`escaped ${url}`] : []);
    expect(await unitsOf(RUN.runId)).toEqual([]);
  });

  it("and reading from LiteLLM is left alone", async () => {
    await meterOf(plainAnswer())(`${BASE}/models`);
    expect(sent[0]?.headers.get("authorization")).toBeNull();
  });
});

it("keeps accounts apart over any interleaving of their calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }),
      async (scheduler, accounts) => {
        ledger = createMemoryLedgerStore();
        sent = [];
        const meter = meterOf(plainAnswer(), {
          keys: {
            resolveKey: async (id, account) => {
              await scheduler.schedule(Promise.resolve());
              return `sk-${account}-${id}`;
            },
          },
        });
        const calls = accounts.map((account) =>
          withMeteredRun(madeRun(account), async () => {
            await scheduler.schedule(Promise.resolve());
            await meter(CHAT, { method: "POST", body: BODY });
          }),
        );
        await scheduler.waitFor(Promise.all(calls));
        expect(sent).toHaveLength(accounts.length);
        for (const { headers } of sent) {
          const label = JSON.parse(headers.get("x-litellm-spend-logs-metadata") ?? "{}");
          expect(headers.get("authorization")).toBe(`Bearer sk-${label.accountId}-vk-${label.accountId}`);
          expect(headers.get("x-litellm-session-id")).toBe(`run-of-${label.accountId}`);
          const [unit] = await ledger.find([headers.get("x-litellm-call-id") ?? ""]);
          expect(unit).toMatchObject({ account: label.accountId, unitId: label.usageUnitId });
        }
      },
    ),
    { numRuns: 30 },
  );
});

describe("installing", () => {
  it("meters what took its fetch before there was a meter, and undoes it", async () => {
    const before = globalThis.fetch;
    const installed = installFetch(CHAT);
    try {
      const taken = globalThis.fetch;
      const early = await withMeteredRun(RUN, () => taken(CHAT, { method: "POST", body: BODY }));
      expect(early.status).toBe(403);
      installed.use(meterOf(plainAnswer()));
      await withMeteredRun(RUN, () => taken(CHAT, { method: "POST", body: BODY }));
      expect(sent).toHaveLength(1);
    } finally {
      installed.remove();
    }
    expect(globalThis.fetch).toBe(before);
  });

  it("refuses to meter a metered fetch, which would charge twice", () => {
    expect(() => meterOf(plainAnswer(), { send: meterOf(plainAnswer()) })).toThrow("metered already");
  });
});
