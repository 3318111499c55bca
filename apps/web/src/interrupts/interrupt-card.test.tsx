// @vitest-environment happy-dom
import { type OpenQuestion, readInterrupt } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { act, createElement, useState } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RowDraft } from "./approval-rows";
import { InterruptCard } from "./interrupt-card";

let place: HTMLElement;
let root: Root;
let answers: Json[];

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

function Shown({ asked }: { readonly asked: OpenQuestion }) {
  const [rows, onDraft] = useState<readonly RowDraft[]>([]);
  const onAnswer = (value: Json) => void answers.push(value);
  return createElement(InterruptCard, {
    asked,
    isAlone: true,
    chosen: undefined,
    rows,
    isDisabled: false,
    onDraft,
    onAnswer,
  });
}

function show(asked: OpenQuestion): void {
  act(() => root.render(createElement(Shown, { asked })));
}

function ask(raw: Json, more: object = {}, schema?: object): OpenQuestion {
  const langgraph = { raw, ...(schema && { responseSchema: schema as Json }) };
  return readInterrupt({ id: "q", reason: "x", message: "Which?", metadata: { langgraph }, ...more });
}

const buttons = () => [...place.querySelectorAll("button")];

describe("InterruptCard", () => {
  it("offers the recommended option first, marked, and answers with what was pressed", () => {
    show(ask({ options: ["hotel", "tent"], recommendation: "tent" }));
    expect(buttons().map((button) => button.textContent)).toEqual(["tentRecommended", "hotel"]);
    act(() => buttons()[1]?.click());
    expect(answers).toEqual(["hotel"]);
  });

  it("asks in a form for what the schema wants, and says what is missing", () => {
    show(ask({}, {}, { type: "object", properties: { people: { type: "integer" } }, required: ["people"] }));
    act(() => buttons()[0]?.click());
    expect(answers).toEqual([]);
    expect(place.querySelector("[role=alert]")?.textContent).toBe("This needs an answer.");
  });

  const press = (label: string) =>
    act(() =>
      buttons()
        .find((button) => button.textContent === label && !button.disabled)
        ?.click(),
    );
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

  it("offers each call the decisions its policy allows, and sends one for each in the graph's spelling", () => {
    show(ask(BATCH));
    expect(buttons().map((button) => button.textContent)).toEqual([
      "Approve",
      "Edit",
      "Reject",
      "Send decisions",
    ]);
    press("Send decisions");
    expect(answers).toEqual([]);
    press("Edit");
    expect(place.textContent).toContain("Nothing is changed yet.");
    press("Edit as JSON");
    write("{");
    press("Reject");
    press("Send decisions");
    expect(place.textContent).toContain("This is not a JSON object.");
    expect(answers).toEqual([]);
    write('{"amount":1}');
    expect(place.querySelector("del")?.textContent).toBe("3");
    expect(place.querySelector("ins")?.textContent).toBe("1");
    expect(place.textContent).toContain("Rejecting one call stops all of them");
    press("Send decisions");
    const editedAction = { name: "pay", args: { amount: 1 } };
    expect(answers).toEqual([{ decisions: [{ type: "edit", editedAction }, { type: "reject" }] }]);
  });

  it("takes a, e and r on a row, and sends with the modifier and Enter", () => {
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
    const editedAction = { name: "pay", args: { amount: 2 } };
    expect(answers).toEqual([{ decisions: [{ type: "edit", editedAction }, { type: "approve" }] }]);
  });

  it("approves all calls with one press, and one call alone at once", () => {
    show(ask({ ...BATCH, reviewConfigs: [] }));
    press("Approve all");
    show(ask({ actionRequests: [{ name: "pay", args: {} }], reviewConfigs: [] }));
    press("Approve");
    const approve = { type: "approve" };
    expect(answers).toEqual([{ decisions: [approve, approve] }, { decisions: [approve] }]);
  });

  it("responds in place of a call where the policy allows it, with words that must be there", () => {
    const review_configs = [{ action_name: "pay", allowed_decisions: ["respond", "switch_manual"] }];
    show(ask({ action_requests: [{ name: "pay", args: {} }], review_configs }));
    press("Respond");
    press("Send decision");
    expect(answers).toEqual([]);
    write("Ask me later");
    press("Send decision");
    press("switch manual");
    press("Send decision");
    expect(answers).toEqual([
      { decisions: [{ type: "respond", message: "Ask me later" }] },
      { decisions: [{ type: "switch_manual" }] },
    ]);
  });

  it("shows the raw question, takes JSON for it, and explains what the graph could not take", () => {
    show(ask({ ...BATCH, reviewConfigs: [] }));
    act(() => {
      const details = place.querySelector("details");
      if (details) details.open = true;
      details?.dispatchEvent(new Event("toggle"));
    });
    expect(place.textContent).toContain("actionRequests");
    write('{"decisions":[{"type":"approve"}]}');
    press("Answer");
    expect(answers).toEqual([]);
    expect(place.querySelector("article > [role=alert]")?.textContent).toMatch(/2/);
    write('{"decisions":[{"type":"approve"},{"type":"reject"}]}');
    press("Answer");
    expect(answers).toHaveLength(1);
  });

  it("takes yes, no and words for a question that asks yes or no", () => {
    show(ask("Shall I go on?"));
    press("No");
    expect(answers).toEqual([false]);
    expect(buttons().map((button) => button.textContent)).toContain("Answer");
  });

  it("shows anything else as it is, and takes JSON that is JSON", () => {
    show(ask({ odd: ["thing"] }));
    expect(place.textContent).toContain("odd");
    press("Answer as JSON");
    write("[1,");
    press("Answer");
    expect(answers).toEqual([]);
    write("[1]");
    press("Answer");
    expect(answers).toEqual([[1]]);
  });

  it("asks for JSON for the part that has no control, and fills in the schema's own defaults", () => {
    const properties = { count: { type: "integer", default: 2 }, tree: { type: "array", items: {} } };
    show(ask({}, {}, { type: "object", properties }));
    expect(place.querySelector("input")?.value).toBe("2");
    write("[{}]");
    press("Answer");
    expect(answers).toEqual([{ count: 2, tree: [{}] }]);
  });

  it("takes no answer once the time is over", () => {
    show(ask({ options: ["yes"] }, { expiresAt: "2020-01-01T00:00:00Z" }));
    expect(buttons()[0]?.disabled).toBe(true);
    expect(place.textContent).toContain("The time to answer is over.");
  });
});
