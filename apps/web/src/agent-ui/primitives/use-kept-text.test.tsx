// @vitest-environment happy-dom
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { useStoredText } from "./stored-state";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

interface ShownProps {
  readonly storageKey: string;
  readonly onSet: (set: (text: string | null) => void) => void;
}

function Shown({ storageKey, onSet }: ShownProps) {
  const [text, setText] = useStoredText(storageKey);
  onSet(setText);
  return text ?? "none";
}

function show(storageKey: string) {
  let set: (text: string | null) => void = () => {};
  const onSet = (next: typeof set) => {
    set = next;
  };
  const place = document.createElement("div");
  const root = createRoot(place);
  act(() => root.render(createElement(Shown, { storageKey, onSet })));
  onTestFinished(() => act(() => root.unmount()));
  return { text: () => place.textContent, set: (text: string | null) => act(() => set(text)) };
}

it("is kept by the browser, and shown by all parts of the page", () => {
  const [first, second] = [show("k1"), show("k1")];
  first.set("hello");
  expect([first.text(), second.text(), localStorage.getItem("k1")]).toEqual(["hello", "hello", "hello"]);
  first.set(null);
  expect([second.text(), localStorage.getItem("k1")]).toEqual(["none", null]);
});

it("shows what another tab wrote", () => {
  const here = show("k2");
  here.set("mine");
  localStorage.setItem("k2", "theirs");
  act(() => void window.dispatchEvent(new StorageEvent("storage", { key: "k2", newValue: "theirs" })));
  expect(here.text()).toBe("theirs");
});

it("holds for the page where the browser refuses to store anything", () => {
  const refuse = () => {
    throw new DOMException("blocked", "SecurityError");
  };
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse, removeItem: refuse, clear: refuse });
  const here = show("k3");
  here.set("hello");
  expect(here.text()).toBe("hello");
  vi.unstubAllGlobals();
});
