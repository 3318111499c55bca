// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentCatalog, AgentCatalogContext } from "../data/agents";
import { type Caller, CallerContext } from "../data/caller";
import { createQueryClient } from "../data/query";
import { SpendPage } from "./spend-page";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const NOW = Date.parse("2026-11-17T12:00:00.000Z");
const bill = (costUsd: number, unpriced = 0) => ({
  calls: 2,
  inputTokens: 1_000,
  outputTokens: 234,
  costUsd,
  cost: String(costUsd),
  unpriced,
});
const row = (key: string, costUsd: number, unpriced = 0) => ({ key, ...bill(costUsd, unpriced) });
const STATEMENT = {
  month: "2026-11",
  subject: null as string | null,
  isFinal: false,
  total: bill(3.5),
  by: {
    day: [row("2026-11-16", 1), row("2026-11-17", 2.5)],
    agent: [row("langgraph:poet", 3.5)],
    model: [row("cheap", 3.5)],
    person: [row("", 1), row("ann", 2.5)],
  },
};
const NOTHING = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, cost: "0", unpriced: 0 };
const EMPTY = { ...STATEMENT, total: NOTHING, by: { day: [], agent: [], model: [], person: [] } };
const budget = (standing: string, share: number) => ({
  of: "person",
  period: "day",
  limitUsd: 10,
  limit: "10",
  spentUsd: 10 * share,
  spent: String(10 * share),
  share,
  softPercent: 80,
  standing,
  renewedAt: "2026-11-18T00:00:00.000Z",
});

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const RUNS = [
  {
    ...row("r1", 1),
    run: {
      agentId: "langgraph:poet",
      threadName: "plan",
      visibility: "account",
      createdAt: "2026-11-17T11:00:00.000Z",
    },
  },
  {
    ...row("r2", 2),
    run: {
      agentId: "langgraph:poet",
      threadName: null,
      visibility: "private",
      createdAt: "2026-11-17T10:00:00.000Z",
    },
  },
  { ...row("r3", 0.5), run: null },
];

interface Answers {
  readonly statement?: (path: string) => Response;
  readonly agents?: readonly object[];
  readonly budgets?: readonly object[];
  readonly refusal?: string;
}

const cellsOf = (lines: readonly Element[]) =>
  lines.map((line) => [...line.children].map((cell) => cell.textContent));

async function show({
  statement = () => Response.json(STATEMENT),
  agents = [],
  budgets = [],
  refusal,
}: Answers = {}) {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path.replace("/api/throughline", ""));
    if (path.includes("/budgets")) return Response.json({ budgets });
    if (path.includes("by=run")) return Response.json({ rows: RUNS, next: null });
    if (path.includes("by=day")) return Response.json({ rows: [row("2026-11-17", 2.5)] });
    return statement(path);
  });
  const caller: Caller = { isPerson: true, subject: "ann", role: "operator", refusal: () => refusal };
  // The page reads no more of an agent than its name.
  const byId = new Map([["langgraph:poet", { name: "Poet" }]]) as unknown as AgentCatalog["byId"];
  const catalog: AgentCatalog = {
    agents: agents as NonNullable<AgentCatalog["agents"]>,
    byId,
    problem: undefined,
    isLoading: false,
    refresh() {},
  };
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  const page: ReactNode = (
    <QueryClientProvider client={createQueryClient()}>
      <AgentCatalogContext value={catalog}>
        <CallerContext value={caller}>
          <SpendPage />
        </CallerContext>
      </AgentCatalogContext>
    </QueryClientProvider>
  );
  act(() => root.render(page));
  onTestFinished(() => act(() => root.unmount()));
  const settle = () => act(() => vi.advanceTimersByTimeAsync(10));
  await settle();
  const named = (name: string) =>
    [...place.querySelectorAll("button, a")].find(
      (one) => one.textContent === name || one.getAttribute("aria-label") === name,
    );
  return {
    asked,
    text: () => place.textContent ?? "",
    rows: () => cellsOf([...place.querySelectorAll("tbody tr")].filter((line) => !line.closest("figure"))),
    numbersOfChart: () => cellsOf([...place.querySelectorAll("figure tbody tr")]),
    tabs: () => [...place.querySelectorAll('[role="tab"]')].map((tab) => tab.textContent),
    link: (name: string) => named(name)?.getAttribute("href"),
    async press(name: string) {
      const button = named(name);
      if (!(button instanceof HTMLElement)) throw new Error(`no ${name}`);
      act(() => button.click());
      await settle();
    },
  };
}

describe("The spend page", () => {
  it("shows the month's cost by day, agent, model and person, and as a spreadsheet", async () => {
    const page = await show();
    expect(page.text()).toContain("$3.50 for 2 model calls.");
    expect(page.rows()).toEqual([
      ["2026-11-16", "", "2", "1,234", "$1.00"],
      ["2026-11-17", "", "2", "1,234", "$2.50"],
    ]);
    await page.press("Agent");
    expect(page.rows()).toEqual([["Poet", "", "2", "1,234", "$3.50"]]);
    await page.press("Person");
    expect(page.rows().map(([name]) => name)).toEqual(["The account, or a deleted person", "ann"]);
    expect(page.link("CSV")).toBe("/api/throughline/usage/statement?month=2026-11&format=csv");
  });

  it("does not compare one person with others", async () => {
    const page = await show({ statement: () => Response.json({ ...STATEMENT, subject: "ann" }) });
    expect(page.tabs()).toEqual(["Day", "Agent", "Model"]);
  });

  it("compares the month with the one before, up to the same day", async () => {
    const october = {
      ...STATEMENT,
      total: bill(9),
      by: { ...STATEMENT.by, day: [row("2026-10-17", 4), row("2026-10-18", 5)] },
    };
    const page = await show({
      statement: (path) => Response.json(path.includes("2026-10") ? october : STATEMENT),
    });
    expect(page.text()).toContain("October 2026, up to day 17$4.00October 2026$9.00Change$0.50 less");
  });

  it("lists the runs behind a row, dearest first, with links to threads that the caller may see", async () => {
    const page = await show();
    await page.press("Agent");
    await page.press("Poet");
    expect(page.asked.at(-1)).toBe(
      "/usage?by=run&limit=50&from=2026-11-01&to=2026-12-01&agentId=langgraph%3Apoet",
    );
    expect(page.text()).toContain("Runs of Poet, November 2026");
    expect(
      page
        .rows()
        .slice(-3)
        .map(([name]) => name),
    ).toEqual(["Poet, in a thread of another person", "Poet, open thread", "A run that is no longer listed"]);
    expect(page.link("Poet, open thread")).toBe("/agents/poet/shared/plan");
    expect(page.link("CSV of these runs")).toContain("by=run&format=csv");
    await page.press("Close the runs");
    expect(page.text()).not.toContain("Runs of Poet");
  });

  it("has the chart's numbers in a table, what no agent explains as the rest", async () => {
    const page = await show();
    await page.press("Agent");
    expect(page.numbersOfChart()).toEqual([
      ["2026-11-16", "$0.00", "$1.00"],
      ["2026-11-17", "$2.50", "$0.00"],
    ]);
  });

  it("says that a script answers, and how to connect a model", async () => {
    const offline = await show({ agents: [{ answeredBy: "script" }] });
    expect(offline.text()).toContain("Offline scripted model");
    expect(offline.text()).toContain("LITELLM_BASE_URL");
    const online = await show({ agents: [{ answeredBy: "model" }] });
    expect(online.text()).not.toContain("Offline scripted model");
  });

  it("says which part has no price yet", async () => {
    const total = bill(3.5, 1);
    const by = { ...STATEMENT.by, day: [row("2026-11-17", 3.5, 1)] };
    const page = await show({ statement: () => Response.json({ ...STATEMENT, total, by }) });
    expect(page.text()).toContain("$3.50… for 2 model calls, of which 1 has no price yet.");
    expect(page.rows()[0]?.at(-1)).toBe("$3.50…");
  });

  it("goes to other months, and no further than this one", async () => {
    const page = await show();
    await page.press("The month before");
    expect(page.asked.at(-1)).toBe("/usage/statement?month=2026-09");
    expect(page.text()).toContain("October 2026");
    await page.press("The month after");
    await page.press("The month after");
    expect(page.text()).toContain("November 2026");
  });

  it("warns of a budget that is nearly spent, and says what one that is used up means", async () => {
    const near = await show({ budgets: [budget("near", 0.85)] });
    expect(near.text()).toContain("You, today$8.50 of $10.00");
    expect(near.text()).toContain("85 % is spent. Renewed in 12 h.");
    const over = await show({ budgets: [budget("exceeded", 1.2)] });
    expect(over.text()).toContain("model calls are refused until it is renewed. Renewed in 12 h.");
    const within = await show({ budgets: [budget("within", 0.1)] });
    expect(within.text()).not.toContain("Renewed");
  });

  it("says what would be there when nothing was spent, and offers no empty spreadsheet", async () => {
    const page = await show({ statement: () => Response.json(EMPTY) });
    expect(page.text()).toContain("Nothing was spent in November 2026");
    expect(page.link("CSV")).toBeUndefined();
  });

  it("says what went wrong, and tries again when asked", async () => {
    let isAway = true;
    const refused = () =>
      Response.json({ code: "store_unavailable", message: "The database is away." }, { status: 503 });
    const page = await show({ statement: () => (isAway ? refused() : Response.json(STATEMENT)) });
    expect(page.text()).toContain("The database is away.");
    isAway = false;
    await page.press("Try again");
    expect(page.rows()).toHaveLength(2);
    expect(page.text()).not.toContain("The database is away.");
  });

  it("asks for nothing that the role may not see", async () => {
    const page = await show({ refusal: "The role viewer may not see what runs cost." });
    expect(page.text()).toContain("The role viewer may not see what runs cost.");
    expect(page.asked).toEqual([]);
    expect(page.link("CSV")).toBeUndefined();
  });
});
