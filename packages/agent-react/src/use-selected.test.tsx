// @vitest-environment happy-dom
import type { Store } from "@throughline/agent-client";
import { act } from "react";
import { expect, it } from "vitest";
import { shallowEqual } from "./index.js";
import { mount, Probe } from "./testing/fake-page.js";
import { type IsEqual, useSelector } from "./use-selector.js";

function createValue<T>(first: T): Store<T> & { set(value: T): Promise<void> } {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    getSnapshot: () => value,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set: (next) =>
      act(async () => {
        value = next;
        for (const listener of listeners) listener();
      }),
  };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const ORIGIN: Point = { x: 0, y: 0 };

/** Every value that a component of this selector rendered with. */
async function watch<T>(store: Store<Point>, selector: (point: Point) => T, isEqual?: IsEqual<T>) {
  const seen: T[] = [];
  // The selector is made anew with every render, as most people write it.
  const part = (select: (point: Point) => T) => (
    <Probe use={() => seen.push(useSelector(store, ORIGIN, (point) => select(point), isEqual))} />
  );
  const { render } = await mount(part(selector));
  return { seen, reselect: (select: (point: Point) => T) => render(part(select)) };
}

it("renders when its own part changes, and not for the rest", async () => {
  const store = createValue<Point>({ x: 1, y: 1 });
  const { seen } = await watch(store, ({ x }) => x);
  await store.set({ x: 1, y: 2 });
  await store.set({ x: 2, y: 2 });
  expect(seen).toEqual([1, 2]);
});

it("keeps the very same value while it is equal, though the selector makes a new one each time", async () => {
  const store = createValue<Point>({ x: 1, y: 1 });
  const { seen, reselect } = await watch(store, ({ x }) => [x], shallowEqual);
  await store.set({ x: 1, y: 2 });
  expect(seen).toHaveLength(1);
  await reselect(({ x }) => [x]);
  expect(seen).toHaveLength(2);
  expect(seen[1]).toBe(seen[0]);
  await store.set({ x: 3, y: 2 });
  expect(seen[2]).toEqual([3]);
});

it("goes by what the newest selector says, at once", async () => {
  const store = createValue<Point>({ x: 1, y: 5 });
  const { seen, reselect } = await watch(store, ({ x }) => x);
  await reselect(({ y }) => y);
  expect(seen).toEqual([1, 5]);
  await store.set({ x: 2, y: 5 });
  expect(seen).toEqual([1, 5]);
});
