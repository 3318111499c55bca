// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { type AgentCatalog, AgentCatalogContext } from "../data/agents";
import { CallerContext } from "../data/caller";
import { createQueryClient } from "../data/query";
import { ActivityProvider, useListedThreads } from "./activity";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const renders: Record<string, number> = {};

function Entry({ agentId }: { readonly agentId: string }): ReactNode {
  renders[agentId] = (renders[agentId] ?? 0) + 1;
  return (
    useListedThreads(agentId)
      .rows?.map(({ title }) => title)
      .join() ?? ""
  );
}

function renderEntries(): HTMLElement {
  // The provider reads no more of an agent than its id.
  const agents = [{ id: "a" }, { id: "b" }] as unknown as NonNullable<AgentCatalog["agents"]>;
  const catalog: AgentCatalog = {
    agents,
    byId: new Map(),
    problem: undefined,
    isLoading: false,
    refresh() {},
  };
  const place = document.createElement("div");
  const root = createRoot(place);
  onTestFinished(() => act(() => root.unmount()));
  act(() =>
    root.render(
      <QueryClientProvider client={createQueryClient()}>
        <AgentCatalogContext value={catalog}>
          <CallerContext
            value={{ isPerson: false, subject: null, role: undefined, refusal: () => undefined }}
          >
            <ActivityProvider seen={undefined}>
              <Entry agentId="a" />
              <Entry agentId="b" />
            </ActivityProvider>
          </CallerContext>
        </AgentCatalogContext>
      </QueryClientProvider>,
    ),
  );
  return place;
}

it("renders an agent's entry only when a poll says something new of that agent", async () => {
  const titles: Record<string, string> = { a: "one", b: "two" };
  vi.stubGlobal("fetch", async (path: string) => {
    const agentId = /agents\/(\w)\//.exec(path)?.[1];
    if (agentId === undefined) return Response.json({ crons: [], questions: [], next: null });
    const row = { threadName: "t", agentId, title: titles[agentId], archived: false };
    const threads = [{ ...row, status: "idle", lastActivityAt: "2026-11-17T12:00:00.000Z" }];
    return Response.json({ threads, next: null });
  });
  const place = renderEntries();
  await pass(100);
  expect(place.textContent).toBe("onetwo");
  const first = { ...renders };
  await pass(12_000);
  expect(renders).toEqual(first);
  titles.b = "three";
  await pass(12_000);
  expect(place.textContent).toBe("onethree");
  expect(renders.a).toBe(first.a);
});

it("asks once for what waits with all agents, and lists it however old it is", async () => {
  const asked: string[] = [];
  const at = "2026-11-17T12:00:00.000Z";
  const question = {
    agentId: "b",
    threadName: "old",
    visibility: "private",
    title: "Which way?",
    runId: "r",
  };
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path.replace("/api/throughline", ""));
    if (path.includes("/waiting")) {
      const interrupt = (id: string) => ({ interrupt_id: id, value: "Which?", node: null, ns: [] });
      const questions = ["1", "2"].map((id) => ({ ...question, askedAt: at, interrupt: interrupt(id) }));
      return Response.json({ questions, next: null });
    }
    return Response.json({ crons: [], threads: [], next: path.includes("/agents/") ? "more" : null });
  });
  const place = renderEntries();
  await pass(100);
  expect(place.textContent).toBe("Which way?");
  expect(asked.toSorted()).toEqual([
    "/agents/a/threads?limit=30",
    "/agents/b/threads?limit=30",
    "/crons?limit=100",
    "/waiting?limit=100",
  ]);
});
