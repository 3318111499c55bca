// @vitest-environment happy-dom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { PaletteEntry } from "./palette-entries";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const run = vi.fn<(id: string) => void>();
vi.mock("./palette-entries", () => ({
  usePaletteEntries: (): readonly PaletteEntry[] =>
    ["Poet", "Travel planner"].map((label) => ({
      id: label,
      group: "Actions",
      label,
      run: () => run(label),
    })),
}));

beforeEach(() => {
  // Its list is loaded once a page.
  vi.resetModules();
  run.mockClear();
});

describe("The palette, while its list is loaded,", () => {
  async function open() {
    const { Palette } = await import("./palette");
    const place = document.body.appendChild(document.createElement("div"));
    const root = createRoot(place);
    onTestFinished(() => act(() => root.unmount()));
    const onClose = vi.fn();
    act(() => root.render(<Palette isOpen onClose={onClose} />));
    const field = place.querySelector("input");
    expect(field?.getAttribute("role")).toBeNull();
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
    return {
      onClose,
      fill: (text: string) =>
        act(() => {
          if (field) setter?.call(field, text);
          field?.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      enter: () =>
        act(() => void field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }))),
      async untilLoaded(): Promise<string | undefined> {
        await act(() => import("./palette-body"));
        return place.querySelector<HTMLInputElement>("[role=combobox]")?.value;
      },
    };
  }

  it("keeps what is typed and entered, and then does it", async () => {
    const { fill, enter, untilLoaded, onClose } = await open();
    fill("travel");
    enter();
    expect(await untilLoaded()).toBe("travel");
    expect(run.mock.calls).toEqual([["Travel planner"]]);
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it("does nothing by itself where more was typed after Enter", async () => {
    const { fill, enter, untilLoaded, onClose } = await open();
    fill("travel");
    enter();
    fill("travel p");
    expect(await untilLoaded()).toBe("travel p");
    expect([run.mock.calls, onClose.mock.calls]).toEqual([[], []]);
  });
});
