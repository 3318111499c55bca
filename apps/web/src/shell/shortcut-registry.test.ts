// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createShortcutRegistry, type ShortcutRegistry } from "./shortcuts";

let registry: ShortcutRegistry;
let leave: () => void;

beforeEach(() => {
  registry = createShortcutRegistry();
  leave = registry.listen(window);
});
afterEach(() => {
  leave();
  document.body.replaceChildren();
});

function press(
  key: string,
  init: KeyboardEventInit = {},
  target: EventTarget = document.body,
): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init });
  target.dispatchEvent(event);
  return event;
}

function added(keys: string) {
  const run = vi.fn();
  const remove = registry.add({ keys, label: keys, run });
  return { run, remove };
}

it("runs what its keys say, with ⌘ or Ctrl alike, and keeps the browser from its own", () => {
  const { run } = added("mod+k");
  expect(press("k", { ctrlKey: true }).defaultPrevented).toBe(true);
  press("k", { metaKey: true });
  expect(press("k").defaultPrevented).toBe(false);
  expect(run).toHaveBeenCalledTimes(2);
});

it("knows a sign by itself, however a keyboard makes it", () => {
  const { run } = added("?");
  press("?", { shiftKey: true });
  expect(run).toHaveBeenCalledTimes(1);
});

it("leaves single letters to whoever types", () => {
  const letter = added("n");
  const chord = added("mod+k");
  const input = document.createElement("input");
  document.body.append(input);
  press("n", {}, input);
  press("k", { ctrlKey: true }, input);
  expect(letter.run).not.toHaveBeenCalled();
  expect(chord.run).toHaveBeenCalledTimes(1);
});

it("takes two presses one after the other, and forgets the first when something else is pressed", () => {
  const { run } = added("g c");
  press("g");
  press("c");
  expect(run).toHaveBeenCalledTimes(1);
  press("g");
  press("x");
  press("c");
  expect(run).toHaveBeenCalledTimes(1);
  press("g");
  press("g");
  press("c");
  expect(run).toHaveBeenCalledTimes(2);
});

it("asks the newest of two that want the same key, and the other again when that is gone", () => {
  const older = added("n");
  const newer = added("n");
  press("n");
  newer.remove();
  press("n");
  expect([newer.run.mock.calls.length, older.run.mock.calls.length]).toEqual([1, 1]);
});

it("tells who lists them when one comes or goes", () => {
  const told = vi.fn();
  registry.subscribe(told);
  const { remove } = added("n");
  expect(registry.getSnapshot()).toHaveLength(1);
  remove();
  expect(registry.getSnapshot()).toHaveLength(0);
  expect(told).toHaveBeenCalledTimes(2);
});
