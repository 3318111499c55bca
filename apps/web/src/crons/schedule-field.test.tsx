// @vitest-environment happy-dom
import { act, type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { ScheduleField } from "./schedule-field";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function Form({ initial }: { readonly initial: string }): ReactNode {
  const [schedule, setSchedule] = useState(initial);
  return <ScheduleField schedule={schedule} onChange={setSchedule} problem={undefined} />;
}

function show(initial: string) {
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  act(() => root.render(<Form initial={initial} />));
  onTestFinished(() => act(() => root.unmount()));
  const find = <T extends Element>(selector: string, kind: new () => T): T => {
    const found = place.querySelector(selector);
    if (!(found instanceof kind)) throw new Error(`no ${selector}`);
    return found;
  };
  const words = () => find("select", HTMLSelectElement);
  const syntax = () => find('input[spellcheck="false"]', HTMLInputElement);
  return {
    place,
    words,
    syntax,
    choose(value: string) {
      act(() => {
        words().value = value;
        words().dispatchEvent(new Event("change", { bubbles: true }));
      });
    },
    type(input: HTMLInputElement, text: string) {
      act(() => {
        // React watches the property: only the prototype's own setter is news to it.
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, text);
        input.dispatchEvent(new Event("input", { bubbles: true }));
      });
    },
  };
}

describe("when a cron runs", () => {
  it("is said in words and in syntax, which stay in step", () => {
    const { words, syntax, choose, type } = show("every 10 s");
    expect([words().value, syntax().value]).toEqual(["interval", "every 10 s"]);
    choose("weekdays");
    expect(syntax().value).toBe("0 9 * * 1-5");
    type(syntax(), "30 7 * * *");
    expect(words().value).toBe("daily");
    type(syntax(), "*/5 * * * *");
    expect(words().value).toBe("custom");
  });

  it("keeps the time of day when only the days change", () => {
    const { syntax, choose } = show("45 6 * * *");
    choose("weekly");
    expect(syntax().value).toBe("45 6 * * 1");
  });

  it("keeps the syntax when somebody wants to write it", () => {
    const { words, syntax, choose } = show("0 9 * * *");
    choose("custom");
    expect([words().value, syntax().value]).toEqual(["custom", "0 9 * * *"]);
  });

  it("lets a number be empty while it is typed, and takes none that is out of bounds", () => {
    const { place, syntax, type } = show("every 10 s");
    const count = place.querySelector<HTMLInputElement>('input[type="number"]');
    if (!count) throw new Error("no number");
    type(count, "");
    expect([count.value, syntax().value]).toEqual(["", "every 10 s"]);
    type(count, "0");
    expect(syntax().value).toBe("every 10 s");
    type(count, "25");
    expect(syntax().value).toBe("every 25 s");
  });
});
