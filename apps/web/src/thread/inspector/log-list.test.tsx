// @vitest-environment happy-dom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LogList } from "./log-list";
import type { LogRow } from "./log-row";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const rowAt = (index: number): LogRow => ({
  key: `e.${index + 1}.0.log`,
  cursor: `e.${index + 1}.0.log`,
  seq: index + 1,
  time: 0,
  type: "llm_token",
  summary: `word ${index}`,
  latencyMs: undefined,
  text: "{}",
});

function show(count: number, chosen?: number) {
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  const [onChoose, onOpen, onEscape] = [vi.fn(), vi.fn(), vi.fn()];
  act(() =>
    root.render(
      <LogList
        label="Envelopes"
        count={count}
        rowAt={rowAt}
        chosen={chosen}
        onChoose={onChoose}
        onOpen={onOpen}
        onEscape={onEscape}
        relatedSeq={undefined}
        empty="Nothing yet."
      />,
    ),
  );
  onTestFinished(() => act(() => root.unmount()));
  const list = place.querySelector("[role=listbox]");
  const press = (key: string) =>
    act(() => {
      list?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    });
  return { place, onChoose, onOpen, onEscape, press };
}

describe("a list of log entries", () => {
  it("holds a handful of rows for a hundred thousand entries", () => {
    const { place } = show(100_000);
    const rows = place.querySelectorAll("[role=option]");
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThanOrEqual(38);
    expect(rows[0]?.getAttribute("aria-setsize")).toBe("100000");
  });

  it("is walked by keys, and opened by Enter", () => {
    const { press, onChoose, onOpen, onEscape } = show(100, 5);
    press("ArrowDown");
    press("ArrowUp");
    press("Home");
    press("End");
    expect(onChoose.mock.calls).toEqual([[6], [4], [0], [99]]);
    press("Enter");
    expect(onOpen.mock.calls).toEqual([[5]]);
    press("Escape");
    expect(onEscape).toHaveBeenCalledOnce();
  });

  it("begins at the newest going up, and at the oldest going down", () => {
    const { press, onChoose } = show(100);
    press("ArrowUp");
    press("ArrowDown");
    expect(onChoose.mock.calls).toEqual([[99], [0]]);
  });

  it("says why it is empty", () => {
    expect(show(0).place.textContent).toContain("Nothing yet.");
  });
});
