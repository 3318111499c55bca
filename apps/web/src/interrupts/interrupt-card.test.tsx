// @vitest-environment happy-dom
import type { Json } from "@throughline/ai-core";
import { act, createElement } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InterruptCard } from "./interrupt-card";
import { type Question, readQuestion } from "./read-question";

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

function show(question: Question): void {
  const onAnswer = (value: Json) => void answers.push(value);
  act(() =>
    root.render(
      createElement(InterruptCard, {
        question,
        isAlone: true,
        chosen: undefined,
        isDisabled: false,
        onAnswer,
      }),
    ),
  );
}

function ask(raw: Record<string, Json>, more: object = {}): Question {
  return readQuestion({ id: "q", reason: "x", message: "Which?", metadata: { langgraph: { raw } }, ...more });
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
    show(
      ask(
        {},
        {
          responseSchema: {
            type: "object",
            properties: { people: { type: "integer" } },
            required: ["people"],
          },
        },
      ),
    );
    act(() => buttons()[0]?.click());
    expect(answers).toEqual([]);
    expect(place.querySelector("[role=alert]")?.textContent).toBe("This needs an answer.");
  });

  it("takes no answer once the time is over", () => {
    show(ask({ options: ["yes"] }, { expiresAt: "2020-01-01T00:00:00Z" }));
    expect(buttons()[0]?.disabled).toBe(true);
    expect(place.textContent).toContain("The time to answer is over.");
  });
});
