// @vitest-environment happy-dom
import { type OpenQuestion, readInterrupt } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { act, createElement } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

function show(asked: OpenQuestion): void {
  const onAnswer = (value: Json) => void answers.push(value);
  act(() =>
    root.render(
      createElement(InterruptCard, {
        asked,
        isAlone: true,
        chosen: undefined,
        isDisabled: false,
        onAnswer,
      }),
    ),
  );
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
    write("{");
    press("Reject");
    press("Send decisions");
    expect(place.textContent).toContain("This is not a JSON object.");
    expect(answers).toEqual([]);
    write('{"amount":1}');
    expect(place.textContent).toContain("Rejecting one call stops all of them.");
    press("Send decisions");
    const editedAction = { name: "pay", args: { amount: 1 } };
    expect(answers).toEqual([{ decisions: [{ type: "edit", editedAction }, { type: "reject" }] }]);
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
