// @vitest-environment happy-dom
import { QueryClientProvider } from "@tanstack/react-query";
import type { CommandOutcome } from "@throughline/agent-client";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentCatalog, AgentCatalogContext } from "../../data/agents";
import { type Caller, CallerContext } from "../../data/caller";
import { createQueryClient } from "../../data/query";
import { PausedCard } from "./paused-card";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
/** Loaded by the first edit in a page; here they are there, so that a press waits for no file. */
beforeAll(() => Promise.all([import("./state-form"), import("./check-response")]));
afterEach(() => vi.unstubAllGlobals());

const OUTPUT = {
  type: "object",
  properties: { messages: {}, topic: { type: "string" }, count: { type: "integer", minimum: 1 } },
  required: ["topic", "count"],
};

async function show(refusals: Readonly<Record<string, string>> = {}) {
  const sent: unknown[] = [];
  const state = { checkpointId: "c1", values: { topic: "sea", count: 1 }, next: ["send"] };
  vi.stubGlobal("fetch", async (_: string, { method, body }: RequestInit) => {
    if (method !== "PATCH") return Response.json(state);
    sent.push(JSON.parse(String(body)));
    return Response.json({ runId: "edit" });
  });
  const caller: Caller = {
    isPerson: true,
    subject: "ann",
    role: "operator",
    refusal: (action) => refusals[action],
  };
  const letter = { id: "langgraph:letter", name: "Letter", outputSchema: OUTPUT };
  const catalog = { agents: [letter], byId: new Map([[letter.id, letter]]) } as unknown as AgentCatalog;
  const onContinue = vi.fn(
    async (): Promise<CommandOutcome> => ({ kind: "done", status: "success" }) as CommandOutcome,
  );
  const onEdited = vi.fn<(runId: string | null) => void>();
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  const client = createQueryClient();
  const render = (moment: string) =>
    act(() =>
      root.render(
        <QueryClientProvider client={client}>
          <AgentCatalogContext value={catalog}>
            <CallerContext value={caller}>
              <PausedCard
                thread={{ agentId: "langgraph:letter", threadId: "t" }}
                moment={moment}
                onContinue={onContinue}
                onEdited={onEdited}
              />
            </CallerContext>
          </AgentCatalogContext>
        </QueryClientProvider>,
      ),
    );
  onTestFinished(() => {
    act(() => root.unmount());
    place.remove();
  });
  render("r1");
  const button = (name: string) =>
    [...place.querySelectorAll("button")].find(({ textContent }) => textContent === name);
  const settle = (check: () => void) => act(() => vi.waitFor(check));
  await settle(() => expect(button("Edit state")).toBeDefined());
  return {
    place,
    sent,
    onContinue,
    onEdited,
    button,
    settle,
    press: (name: string) => act(async () => button(name)?.click()),
    fill(label: string, text: string) {
      const labels = [...place.querySelectorAll("label")];
      const id = labels.find(({ textContent }) => textContent === label)?.htmlFor ?? "";
      const input = document.getElementById(id);
      const prototype = input instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
      act(() => {
        Object.getOwnPropertyDescriptor(prototype.prototype, "value")?.set?.call(input, text);
        input?.dispatchEvent(new Event("input", { bubbles: true }));
      });
    },
    /** Another tab edits. */
    changeElsewhere() {
      Object.assign(state, { checkpointId: "c2", values: { topic: "moon", count: 1 } });
      render("r2");
    },
  };
}

describe("A pause", () => {
  it("goes on as it is", async () => {
    const { press, onContinue, place } = await show();
    expect(place.textContent).toContain("Paused before send.");
    await press("Continue");
    expect(onContinue).toHaveBeenCalledOnce();
  });

  it("has a form for what the agent holds, which shows and sends what was changed, and stays paused", async () => {
    const { press, fill, settle, button, place, sent, onContinue, onEdited } = await show();
    await press("Edit state");
    await settle(() => expect(place.querySelectorAll("form input")).toHaveLength(2));
    expect(button("Save")?.disabled).toBe(true);
    fill("Topic", "lake");
    expect(place.querySelector("[aria-label='What you changed']")?.textContent).toContain("sea lake");
    await press("Save");
    await settle(() => expect(place.querySelector("form")).toBeNull());
    expect(sent).toEqual([{ values: { topic: "lake" }, checkpointId: "c1" }]);
    expect(onEdited).toHaveBeenCalledWith("edit");
    expect(onContinue).not.toHaveBeenCalled();
    expect(place.querySelector("[role=status]")?.textContent).toContain("Saved.");
    expect(document.activeElement).toBe(button("Edit state"));
  });

  it("is saved and goes on with one press", async () => {
    const { press, fill, settle, place, sent, onContinue } = await show();
    await press("Edit state");
    await settle(() => expect(place.querySelector("form input")).not.toBeNull());
    fill("Count", "3");
    await press("Save and continue");
    await settle(() => expect(onContinue).toHaveBeenCalledOnce());
    expect(sent).toEqual([{ values: { count: 3 }, checkpointId: "c1" }]);
  });

  it("says what can't be right, in the form and as JSON, and sends nothing", async () => {
    const { press, fill, settle, place, sent } = await show();
    await press("Edit state");
    await settle(() => expect(place.querySelector("form input")).not.toBeNull());
    fill("Count", "0");
    await press("Save");
    expect(place.textContent).toContain("No less than 1.");
    fill("Count", "1");
    await press("Edit as JSON");
    for (const [json, words] of [
      ["[]", "This is not a JSON object."],
      ['{"topc":"lake"}', "topc: there is no such value. Known: topic, count."],
      ['{"count":"two"}', "count: The value type"],
    ] as const) {
      fill("State as JSON", json);
      await press("Save");
      await settle(() => expect(place.textContent).toContain(words));
    }
    expect(sent).toEqual([]);
  });

  it("keeps an edit that another has overtaken, and begins anew when told to", async () => {
    const { press, fill, settle, place, button, changeElsewhere } = await show();
    await press("Edit state");
    await settle(() => expect(place.querySelector("form input")).not.toBeNull());
    fill("Topic", "lake");
    changeElsewhere();
    await settle(() => expect(place.textContent).toContain("The state was changed meanwhile"));
    expect(place.querySelector<HTMLInputElement>("form input")?.value).toBe("lake");
    expect(button("Save")?.disabled).toBe(true);
    await press("Start over with the new state");
    expect(place.querySelector<HTMLInputElement>("form input")?.value).toBe("moon");
  });

  it("can't be edited by a role that may not, and says why", async () => {
    const { button, place } = await show({ edit_state: "Your role may not edit the state of threads." });
    expect(button("Edit state")?.disabled).toBe(true);
    expect(button("Continue")?.disabled).toBe(false);
    expect(place.textContent).toContain("Your role may not edit the state of threads.");
  });
});
