import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createNotifier, nextAnimationFrame } from "./store.js";

/** A page, and the frames it was promised. */
function stubPage(visibilityState: "visible" | "hidden") {
  const frames = new Map<number, () => void>();
  vi.stubGlobal("document", { visibilityState });
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => {
    frames.set(frames.size + 1, callback);
    return frames.size;
  });
  vi.stubGlobal("cancelAnimationFrame", (handle: number) => void frames.delete(handle));
  return { draw: () => [...frames.values()].forEach((callback) => void callback()) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("what changed is told", () => {
  it("with the next frame, once", () => {
    const { draw } = stubPage("visible");
    const told = vi.fn();
    const notifier = createNotifier(nextAnimationFrame, () => {});
    notifier.subscribe(told);
    for (let n = 0; n < 3; n += 1) notifier.changed();
    expect(told).not.toHaveBeenCalled();
    draw();
    vi.runAllTimers();
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("although the page was hidden before its frame came", () => {
    stubPage("visible");
    const told = vi.fn();
    const notifier = createNotifier(nextAnimationFrame, () => {});
    notifier.subscribe(told);
    notifier.changed();
    vi.runAllTimers();
    expect(told).toHaveBeenCalledTimes(1);
    notifier.changed();
    notifier.close();
    vi.runAllTimers();
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("each time, by a scheduler that calls back at once", () => {
    const told = vi.fn();
    const notifier = createNotifier(
      (callback) => {
        callback();
        return () => {};
      },
      () => {},
    );
    notifier.subscribe(told);
    notifier.changed();
    notifier.changed();
    expect(told).toHaveBeenCalledTimes(2);
  });

  it("soon where nobody looks", () => {
    stubPage("hidden");
    const told = vi.fn();
    const notifier = createNotifier(nextAnimationFrame, () => {});
    notifier.subscribe(told);
    notifier.changed();
    vi.advanceTimersByTime(0);
    expect(told).toHaveBeenCalledTimes(1);
  });
});
