// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentCatalog, AgentCatalogContext } from "../data/agents";
import { type Caller, CallerContext } from "../data/caller";
import { createQueryClient } from "../data/query";
import { FeedbackPage } from "./feedback-page";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
afterEach(() => vi.unstubAllGlobals());

const row = (messageId: string, more: object = {}) => ({
  agentId: "langgraph:poet",
  threadName: "sea",
  visibility: "private",
  messageId,
  value: "up",
  note: null,
  subject: "ann",
  updatedAt: "2026-11-17T11:00:00.000Z",
  ...more,
});

async function show(feedback: readonly object[], refusal?: string, role = "admin") {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path.replace("/api/throughline", ""));
    return Response.json({ feedback, next: null });
  });
  const caller: Caller = { isPerson: true, subject: "ann", role, refusal: () => refusal };
  // The page reads no more of an agent than its name.
  const poet = { id: "langgraph:poet", name: "Poet" };
  const catalog = {
    agents: [poet],
    byId: new Map([[poet.id, poet]]),
    problem: undefined,
    isLoading: false,
    refresh() {},
  } as unknown as AgentCatalog;
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  act(() =>
    root.render(
      <QueryClientProvider client={createQueryClient()}>
        <AgentCatalogContext value={catalog}>
          <CallerContext value={caller}>
            <FeedbackPage agentId="langgraph:poet" />
          </CallerContext>
        </AgentCatalogContext>
      </QueryClientProvider>,
    ),
  );
  onTestFinished(() => act(() => root.unmount()));
  return { place, asked };
}

const shown = (place: HTMLElement, text: string) =>
  act(() => vi.waitFor(() => expect(place.textContent).toContain(text)));

describe("The feedback page", () => {
  it("lists thumbs and notes of an agent, with a link to each turn but those of others' private threads", async () => {
    const { place, asked } = await show([
      row("m/1", { value: "down", note: "Too long" }),
      row("m2", { subject: "bob" }),
      row("m3", { subject: "bob", visibility: "account" }),
    ]);
    await shown(place, "Too long");
    await act(() => vi.waitFor(() => expect(place.querySelectorAll("li a")).toHaveLength(2)));
    expect(asked).toEqual(["/feedback?limit=50&agentId=langgraph%3Apoet"]);
    const rows = [...place.querySelectorAll("li")].map(({ textContent }) => textContent);
    expect(rows[0]).toMatch(/^Thumb downToo longPoetOpen the answerann/);
    expect(rows[1]).toMatch(/^Thumb upNo notePoetA private threadbob/);
    expect([...place.querySelectorAll("li a")].map((link) => link.getAttribute("href"))).toEqual([
      "/agents/poet/sea#message-m%2F1",
      "/agents/poet/shared/sea#message-m3",
    ]);
  });

  it("says where feedback comes from while there is none", async () => {
    const { place } = await show([]);
    await shown(place, "The thumbs under an answer");
  });

  it("asks for nothing that the role may not see, and says why", async () => {
    const { place, asked } = await show([], "Viewers can't list feedback.", "viewer");
    await shown(place, "Viewers can't list feedback.");
    expect(asked).toEqual([]);
  });
});
