import { Client } from "@langchain/langgraph-sdk";
import type { UpstreamChunk } from "@throughline/ai-core";
import { createLangGraphDevProvider } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countedIn, numbersTo, orderOf, runOn } from "./run-on.js";
import { startTcpProxy } from "./tcp-proxy.js";
import { startUpstreamServer, type UpstreamServer } from "./upstream-server.js";

let server: UpstreamServer;
let direct: Client;

beforeAll(async () => {
  server = await startUpstreamServer();
  direct = new Client({ apiUrl: server.url, apiKey: null });
});
afterAll(() => server?.stop());

/** What an undisturbed reader sees. */
async function undisturbed(threadId: string, upstreamRunId: string): Promise<readonly UpstreamChunk[]> {
  const chunks: UpstreamChunk[] = [];
  for await (const event of direct.runs.joinStream(threadId, upstreamRunId, { lastEventId: "-1" })) {
    if (event.event !== "metadata") chunks.push(decoded(event));
  }
  return chunks;
}

describe("a network that breaks connections", () => {
  it("takes nothing from a run and adds nothing to it, over a hundred cuts at random bytes", async () => {
    const random = seeded(20_261_115);
    const proxy = await startTcpProxy(server.url, () => {
      let left = 1 + Math.floor(random() * 9_000);
      return {
        onAnswer(bytes) {
          const cutAfter = left;
          left -= bytes.length;
          return left < 0 ? { cutAfter } : "pass";
        },
      };
    });
    const provider = createLangGraphDevProvider({ url: proxy.url });
    const count = 300;
    let runs = 0;
    while (proxy.cuts < 100) {
      runs++;
      const request = orderOf("counter", { count, paceMs: runs % 2 });
      const { chunks, final } = await runOn(provider, request);
      expect(final, `run ${runs}, ${proxy.cuts} cuts`).toMatchObject({ ok: true, status: "success" });
      expect(countedIn(chunks)).toEqual(numbersTo(count));
      expect(chunks).toEqual(await undisturbed(request.threadId, final.upstreamRunId ?? ""));
      expect(await direct.runs.list(request.threadId)).toHaveLength(1);
    }
    process.stdout.write(`${proxy.cuts} cuts over ${runs} runs of ${count + 7} events\n`);
    await proxy.stop();
  });

  it("makes one run of a create whose answer was lost", async () => {
    let lost = 0;
    const proxy = await startTcpProxy(server.url, () => {
      let isAnswerToCreate = false;
      return {
        onRequest(bytes) {
          isAnswerToCreate = isCreate(bytes);
          return "pass";
        },
        onAnswer() {
          if (!isAnswerToCreate || lost > 0) return "pass";
          lost++;
          return { cutAfter: 0 };
        },
      };
    });
    const request = orderOf("counter", { count: 20 });
    const { chunks, final } = await runOn(createLangGraphDevProvider({ url: proxy.url }), request);
    expect(lost).toBe(1);
    expect(final.status).toBe("success");
    expect(countedIn(chunks)).toEqual(numbersTo(20));
    expect(await direct.runs.list(request.threadId)).toHaveLength(1);
    await proxy.stop();
  });

  it("makes one run of a create that never arrived", async () => {
    let refused = 0;
    const proxy = await startTcpProxy(server.url, () => ({
      onRequest(bytes) {
        if (refused > 0 || !isCreate(bytes)) return "pass";
        refused++;
        return "cut";
      },
    }));
    const request = orderOf("counter", { count: 5 });
    const { final } = await runOn(createLangGraphDevProvider({ url: proxy.url }), request);
    expect(refused).toBe(1);
    expect(final.status).toBe("success");
    expect(await direct.runs.list(request.threadId)).toHaveLength(1);
    await proxy.stop();
  });

  it("keeps nobody waiting behind a connection that died without a word", async () => {
    let streams = 0;
    const proxy = await startTcpProxy(server.url, () => {
      let isFirstStream = false;
      let answered = 0;
      return {
        onRequest(bytes) {
          if (isJoin(bytes)) isFirstStream = ++streams === 1;
          return "pass";
        },
        onAnswer(bytes) {
          if (!isFirstStream) return "pass";
          answered += bytes.length;
          return answered > 2_000 ? "swallow" : "pass";
        },
      };
    });
    const patience = { idleMs: 300 };
    const request = orderOf("counter", { count: 60, paceMs: 20 });
    const { chunks, final } = await runOn(createLangGraphDevProvider({ url: proxy.url, patience }), request);
    expect(streams).toBeGreaterThan(1);
    expect(final.status).toBe("success");
    expect(countedIn(chunks)).toEqual(numbersTo(60));
    await proxy.stop();
  });
});

function decoded({ event, data }: { readonly event: string; readonly data: unknown }): UpstreamChunk {
  const [mode = event, ...ns] = event.split("|");
  return { ns, mode, data };
}

function isCreate(request: Buffer): boolean {
  return /^POST \/threads\/[^/]+\/runs HTTP/.test(request.toString("latin1"));
}

function isJoin(request: Buffer): boolean {
  return /^GET \/threads\/[^/]+\/runs\/[^/]+\/stream/.test(request.toString("latin1"));
}

/** A small generator of our own, so that a failing run can be had again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
