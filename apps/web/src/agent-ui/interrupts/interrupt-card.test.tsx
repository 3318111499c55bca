// @vitest-environment happy-dom
import { type OpenInterrupt, readInterrupt } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { act, createElement, useState } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { RowDraft } from "./approval-rows";
import { InterruptCard } from "./interrupt-card";

let place: HTMLElement;
let root: Root;
let answers: Json[];

/** Loaded with the first answer in a page; here it is there, so that a press waits for no file. */
beforeAll(() => import("./check-response"));

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  place = document.body.appendChild(document.createElement("div"));
  root = createRoot(place);
  answers = [];
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
});

function Shown({ asked }: { readonly asked: OpenInterrupt }) {
  const [rows, onDraft] = useState<readonly RowDraft[]>([]);
  const onRespond = (value: Json) => void answers.push(value);
  return createElement(InterruptCard, {
    asked,
    isSingle: true,
    chosen: undefined,
    rows,
    isDisabled: false,
    onDraft,
    onRespond,
  });
}

function show(asked: OpenInterrupt): void {
  act(() => root.render(createElement(Shown, { asked })));
}

function ask(raw: Json, more: object = {}, schema?: object): OpenInterrupt {
  const langgraph = { raw, ...(schema && { responseSchema: schema as Json }) };
  return readInterrupt({ id: "q", reason: "x", message: "Which?", metadata: { langgraph }, ...more });
}

const buttons = () => [...place.querySelectorAll("button")];

describe("InterruptCard", () => {
  const press = (label: string) =>
    act(async () => {
      buttons()
        .find((button) => button.textContent === label && !button.disabled)
        ?.click();
      await import("./check-response");
    });

  it("offers the recommended option first, marked, and answers with what was pressed", async () => {
    show(ask({ options: ["hotel", "tent"], recommendation: "tent" }));
    expect(buttons().map((button) => button.textContent)).toEqual(["tentRecommended", "hotel"]);
    await press("hotel");
    expect(answers).toEqual(["hotel"]);
  });

  it("asks in a form for what the schema wants, and says what is missing", () => {
    show(ask({}, {}, { type: "object", properties: { people: { type: "integer" } }, required: ["people"] }));
    act(() => buttons()[0]?.click());
    expect(answers).toEqual([]);
    expect(place.querySelector("[role=alert]")?.textContent).toBe("This needs an answer.");
  });

  function write(text: string): void {
    const area = place.querySelector("textarea");
    const setter = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
    act(() => {
      if (area) setter?.call(area, text);
      area?.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }

  const BATCH = {
    actionRequests: [
      { name: "pay", args: { amount: 3 } },
      { name: "tell", args: {} },
    ],
    reviewConfigs: [
      { actionName: "pay", allowedDecisions: ["approve", "edit"] },
      { actionName: "tell", allowedDecisions: ["reject"] },
    ],
  };

  it("offers each call the decisions its policy allows, and sends one for each in the graph's spelling", async () => {
    show(ask(BATCH));
    expect(buttons().map((button) => button.textContent)).toEqual([
      "Approve",
      "Edit",
      "Reject",
      "Send decisions",
    ]);
    await press("Send decisions");
    expect(answers).toEqual([]);
    await press("Edit");
    expect(place.textContent).toContain("Nothing is changed yet.");
    await press("Edit as JSON");
    write("{");
    await press("Reject");
    await press("Send decisions");
    expect(place.textContent).toContain("This is not a JSON object.");
    expect(answers).toEqual([]);
    write('{"amount":1}');
    expect(place.querySelector("del")?.textContent).toBe("3");
    expect(place.querySelector("ins")?.textContent).toBe("1");
    expect(place.textContent).toContain("Rejecting one call stops all of them");
    await press("Send decisions");
    const editedAction = { name: "pay", args: { amount: 1 } };
    expect(answers).toEqual([{ decisions: [{ type: "edit", editedAction }, { type: "reject" }] }]);
  });

  it("takes a, e and r on a row, and sends with the modifier and Enter", async () => {
    const allowed = ["approve", "edit", "reject"];
    const reviewConfigs = BATCH.actionRequests.map(({ name: actionName }) => ({
      actionName,
      allowedDecisions: allowed,
    }));
    show(ask({ ...BATCH, reviewConfigs }));
    const [pay, tell] = [...place.querySelectorAll("fieldset")];
    const key = (element: Element | undefined, init: KeyboardEventInit) =>
      act(() => void element?.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, ...init })));
    key(pay, { key: "e" });
    const field = place.querySelector("input");
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
    act(() => {
      if (field) setter?.call(field, "2");
      field?.dispatchEvent(new Event("input", { bubbles: true }));
    });
    // A letter that is typed is no decision.
    key(field ?? undefined, { key: "r" });
    key(tell, { key: "a" });
    key(tell, { key: "Enter", metaKey: true });
    await act(() => vi.waitFor(() => expect(answers).not.toEqual([])));
    const editedAction = { name: "pay", args: { amount: 2 } };
    expect(answers).toEqual([{ decisions: [{ type: "edit", editedAction }, { type: "approve" }] }]);
  });

  it("approves all calls with one press, and one call alone at once", async () => {
    show(ask({ ...BATCH, reviewConfigs: [] }));
    await press("Approve all");
    show(ask({ actionRequests: [{ name: "pay", args: {} }], reviewConfigs: [] }));
    await press("Approve");
    const approve = { type: "approve" };
    expect(answers).toEqual([{ decisions: [approve, approve] }, { decisions: [approve] }]);
  });

  it("responds in place of a call where the policy allows it, with words that must be there", async () => {
    const review_configs = [{ action_name: "pay", allowed_decisions: ["respond", "switch_manual"] }];
    show(ask({ action_requests: [{ name: "pay", args: {} }], review_configs }));
    await press("Respond");
    await press("Send decision");
    expect(answers).toEqual([]);
    write("Ask me later");
    await press("Send decision");
    await press("switch manual");
    await press("Send decision");
    expect(answers).toEqual([
      { decisions: [{ type: "respond", message: "Ask me later" }] },
      { decisions: [{ type: "switch_manual" }] },
    ]);
  });

  it("shows the raw question, takes JSON for it, and explains what the graph could not take", async () => {
    show(ask({ ...BATCH, reviewConfigs: [] }));
    act(() => {
      const details = place.querySelector("details");
      if (details) details.open = true;
      details?.dispatchEvent(new Event("toggle"));
    });
    expect(place.textContent).toContain("actionRequests");
    write('{"decisions":[{"type":"approve"}]}');
    await press("Answer");
    expect(answers).toEqual([]);
    expect(place.querySelector("article > [role=alert]")?.textContent).toMatch(/2/);
    write('{"decisions":[{"type":"approve"},{"type":"reject"}]}');
    await press("Answer");
    expect(answers).toHaveLength(1);
  });

  it("takes yes, no and words for a question that asks yes or no", async () => {
    show(ask("Shall I go on?"));
    await press("No");
    expect(answers).toEqual([false]);
    expect(buttons().map((button) => button.textContent)).toContain("Answer");
  });

  it("shows anything else as it is, and takes JSON that is JSON", async () => {
    show(ask({ odd: ["thing"] }));
    expect(place.textContent).toContain("odd");
    await press("Answer as JSON");
    write("[1,");
    await press("Answer");
    expect(answers).toEqual([]);
    write("[1]");
    await press("Answer");
    expect(answers).toEqual([[1]]);
  });

  it("asks for JSON for the part that has no control, and fills in the schema's own defaults", async () => {
    const properties = { count: { type: "integer", default: 2 }, tree: { type: "array", items: {} } };
    show(ask({}, {}, { type: "object", properties }));
    expect(place.querySelector("input")?.value).toBe("2");
    write("[{}]");
    await press("Answer");
    expect(answers).toEqual([{ count: 2, tree: [{}] }]);
  });

  it("opens an address only where a person presses its host, and no address that is no web page", async () => {
    const asked = (url: string) => ask({ mode: "url", message: "Sign in.", url });
    show(asked("https://example.com/login?next=%2F"));
    const link = place.querySelector("a");
    expect(link?.textContent).toBe("Open example.com");
    expect([link?.target, link?.rel]).toEqual(["_blank", "noopener noreferrer"]);
    await press("I have done it");
    show(asked("javascript:alert(1)"));
    expect(place.querySelector("a")).toBeNull();
    await press("Decline");
    await press("Cancel");
    expect(answers).toEqual([{ action: "accept" }, { action: "decline" }, { action: "cancel" }]);
  });

  it("has room for another answer behind the choices of a question to the user", async () => {
    const choices = [{ value: "Mon" }, { value: "Tue" }];
    show(ask({ type: "ask_user", questions: [{ question: "When?", type: "multi_select", choices }] }));
    const boxes = () => [...place.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
    expect(boxes().map((box) => box.closest("label")?.textContent)).toEqual(["Mon", "Tue", "Other"]);
    act(() => boxes()[1]?.click());
    act(() => boxes()[2]?.click());
    await press("Answer");
    expect(place.textContent).toContain("Write your answer.");
    expect(answers).toEqual([]);
    const field = place.querySelector<HTMLInputElement>("input:not([type])");
    expect(document.activeElement).toBe(field);
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
    act(() => {
      if (field) setter?.call(field, "Sunday");
      field?.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await press("Answer");
    expect(answers).toEqual([{ status: "answered", answers: ['["Tue","Sunday"]'] }]);
  });

  it("shows what an approval sends where that is a guess, and sends what was changed alone", async () => {
    show(ask({ action: "send", to: "ada", copies: 1 }));
    expect(place.textContent).toContain('Approving sends {"action":"approve"}');
    await press("Reject");
    await press("Approve");
    expect(answers).toEqual([{ action: "reject" }, { action: "approve" }]);
  });

  it("takes no answer once the time is over", () => {
    show(ask({ options: ["yes"] }, { expiresAt: "2020-01-01T00:00:00Z" }));
    expect(buttons()[0]?.disabled).toBe(true);
    expect(place.textContent).toContain("The time to answer is over.");
  });
});
