import { randomUUID } from "node:crypto";
import { Client } from "@langchain/langgraph-sdk";
import type { GraphFinal, Json, UpstreamChunk } from "@throughline/ai-core";
import { createLangGraphServerAdapter } from "@throughline/graph-executor";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { installPythonServer, type PythonServer, startPythonServer } from "./python-server.js";
import { countedIn, numbersTo, orderOf, runOn } from "./run-on.js";
import { startTcpProxy } from "./tcp-proxy.js";

const isInstalled = await installPythonServer();

if (isInstalled) describeServer();
else it("leaves Python's server out, for neither it nor PyPI is within reach", () => {});

function describeServer(): void {
  let server: PythonServer;
  let outsider: Client;
  let provider: ReturnType<typeof createLangGraphServerAdapter>;

  beforeAll(async () => {
    server = await startPythonServer();
    outsider = new Client({ apiUrl: server.url, apiKey: null });
    provider = createLangGraphServerAdapter({ url: server.url, busyMs: 200 });
  });
  afterAll(() => server?.stop());

  async function asking(text: string) {
    const messages = [{ id: randomUUID(), role: "user" as const, content: text }];
    const request = orderOf("asker", {}, { start: { kind: "input", messages } });
    const { final } = await runOn(provider, request);
    const answer = async (answers: Readonly<Record<string, Json>>): Promise<GraphFinal> => {
      const { threadId } = request;
      return (await runOn(provider, orderOf("asker", {}, { threadId, start: { kind: "resume", answers } })))
        .final;
    };
    return { request, final, answer };
  }
  const idOf = (final: GraphFinal, node: string) =>
    final.interrupts.find((interrupt) => interrupt.node === node)?.interrupt_id ?? "";

  describe("Python's LangGraph server", () => {
    it("streams a run whole and ends it with what the checkpoint holds", async () => {
      const request = orderOf("counter", { count: 50, paceMs: 1 });
      const { chunks, final } = await runOn(provider, request);
      expect(countedIn(chunks)).toEqual(numbersTo(50));
      expect(final).toMatchObject({ ok: true, status: "success", interrupts: [] });
      expect(final.messages?.map(({ content }) => content)).toEqual(["Go", "I counted to 50."]);
      expect(await provider.getState(request)).toMatchObject({
        checkpointId: final.checkpointId,
        runId: request.runId,
      });
    });

    it("asks one question, and takes the answer", async () => {
      const { final, answer } = await asking("one");
      expect(final).toMatchObject({ status: "interrupted", interrupts: [{ value: { question: "one?" } }] });
      expect(await answer({ [idOf(final, "one")]: { choice: 3 } })).toMatchObject({
        status: "success",
        state: { answers: ['{"choice":3}'] },
      });
    });

    it("asks two questions at once, and keeps asking the one that was not answered", async () => {
      const { final, answer } = await asking("two");
      const between = await answer({ [idOf(final, "one")]: "A" });
      expect(between.interrupts).toMatchObject([{ node: "other" }]);
      expect((await answer({ [idOf(between, "other")]: "B" })).state).toEqual({ answers: ['"A"', '"B"'] });
    });

    it("asks from inside a subgraph, and twice in one node", async () => {
      const nested = await asking("nested");
      expect(nested.final.interrupts).toMatchObject([
        { node: "inside", ns: [/^nested:/, /^inside:/].map((part) => expect.stringMatching(part)) },
      ]);
      expect((await nested.answer({ [idOf(nested.final, "inside")]: "deep" })).status).toBe("success");
      const twice = await asking("twice");
      const second = await twice.answer({ [idOf(twice.final, "twice")]: "yes" });
      expect(second.interrupts).toMatchObject([{ value: { question: "second?" } }]);
      expect((await twice.answer({ [idOf(second, "twice")]: "no" })).state).toEqual({
        answers: ['"yes"', '"no"'],
      });
    });

    it("refuses an answer to a question that is not open", async () => {
      const { answer } = await asking("one");
      expect(await answer({ nobody: "A" })).toMatchObject({ status: "error", error: { code: "conflict" } });
    });

    it("is busy, is stopped, and takes the next run", async () => {
      const stop = new AbortController();
      const first = orderOf("counter", { count: 5_000, paceMs: 5 }, { signal: stop.signal });
      const { stream, final } = provider.runGraph(first);
      let chunks = 0;
      for await (const _ of stream) {
        if (++chunks !== 5) continue;
        const { threadId } = first;
        const refused = await runOn(provider, orderOf("counter", { count: 1 }, { threadId }));
        expect(refused.final.error).toMatchObject({ code: "busy", details: { runId: first.runId } });
        stop.abort();
      }
      expect(await final).toMatchObject({ status: "cancelled", error: { code: "cancelled" } });
      const { threadId } = first;
      const next = await runOn(provider, orderOf("counter", { count: 2, paceMs: 0 }, { threadId }));
      expect(next.final.status).toBe("success");
    });

    it("knows its agents, and says so when asked for another", async () => {
      const agents = await provider.listAgents();
      expect(agents.map(({ graphId }) => graphId).toSorted()).toEqual([
        "langgraph:asker",
        "langgraph:counter",
      ]);
      const { final } = await runOn(provider, orderOf("nobody", {}));
      expect(final.error).toMatchObject({
        code: "not_found",
        message: expect.stringMatching(/^Unknown agent "nobody". Available: .*counter/),
      });
    });

    it("has a history, page by page, and runs on from the middle of it", async () => {
      const request = orderOf("counter", { count: 1 });
      const { threadId } = request;
      const past = (await runOn(provider, request)).final.checkpointId ?? "";
      await runOn(provider, orderOf("counter", { count: 2 }, { threadId }));
      const history = await provider.history(request, { limit: 10 });
      const page = await provider.history(request, { limit: 10, before: past });
      expect(page.map(({ checkpointId }) => checkpointId)).toEqual(
        history
          .map(({ checkpointId }) => checkpointId)
          .slice(history.findIndex(({ checkpointId }) => checkpointId === past) + 1),
      );
      const messages = [{ id: randomUUID(), role: "user" as const, content: "Again" }];
      const start = { kind: "fork", checkpointId: past, messages } as const;
      const { final } = await runOn(provider, orderOf("counter", {}, { threadId, start }));
      expect(final.messages?.map(({ content }) => content)).toEqual(["Go", "I counted to 1.", "Again"]);
    });

    it("loses nothing to cuts, as long as no two events share a millisecond", async () => {
      let cut = 0;
      const proxy = await startTcpProxy(server.url, () => {
        let left = 20_000 + ((cut++ * 7_919) % 25_000);
        return {
          onAnswer(bytes) {
            const cutAfter = left;
            left -= bytes.length;
            return left < 0 ? { cutAfter } : "pass";
          },
        };
      });
      const request = orderOf("counter", { count: 300, paceMs: 4 });
      const { chunks, final } = await runOn(createLangGraphServerAdapter({ url: proxy.url }), request);
      expect(proxy.cuts).toBeGreaterThan(0);
      expect(final.status).toBe("success");
      expect(countedIn(chunks)).toEqual(numbersTo(300));
      await proxy.stop();
    });

    it("has a run of somebody else followed whole, and its starter misses nothing", async () => {
      const chunks: UpstreamChunk[] = [];
      let final: GraphFinal | undefined;
      let following = false;
      const { foreignRuns } = createLangGraphServerAdapter({
        url: server.url,
        watchPace: { activeMs: 100, idleMs: 400 },
      });
      const watcher = foreignRuns?.watch({
        onRun(run) {
          if (following) return;
          following = true;
          void (async () => {
            const followed = foreignRuns.follow(run, new AbortController().signal);
            for await (const chunk of followed.stream) chunks.push(chunk);
            final = await followed.final;
          })();
        },
        onStateChange() {},
      });
      const { thread_id: threadId } = await outsider.threads.create();
      watcher?.watch(threadId);
      const heard: number[] = [];
      for await (const { event, data } of outsider.runs.stream(threadId, "counter", {
        input: { messages: [], count: 150, paceMs: 10 },
        streamMode: ["custom"],
        streamResumable: true,
      })) {
        heard.push(...countedIn([{ ns: [], mode: event, data }]));
      }
      await vi.waitFor(() => expect(final).toBeDefined(), { timeout: 20_000, interval: 20 });
      watcher?.close();
      expect(heard).toEqual(numbersTo(150));
      expect(countedIn(chunks)).toEqual(numbersTo(150));
      expect(final?.status).toBe("success");
    });
  });
}
