import { expect, it } from "vitest";
import { notebook } from "../behaviour/graphs/notebook.js";
import { describeLoadedGraph, graphRegistry } from "./graph.js";

const descriptor = describeLoadedGraph({ graphName: "notebook", description: "Takes notes." }, notebook);
const opening = { configurable: {} };

it("makes a graph once, when it is first asked for", async () => {
  let made = 0;
  const registry = graphRegistry([
    {
      descriptor,
      create: () => {
        made += 1;
        return notebook;
      },
    },
  ]);
  expect(await registry.list()).toEqual([descriptor]);
  expect(made).toBe(0);
  expect(await registry.open("notebook", opening)).toBe(await registry.open("notebook", opening));
  expect(made).toBe(1);
  expect(await registry.open("nobody", opening)).toBeUndefined();
});

it("asks a factory that failed again the next time", async () => {
  let isReady = false;
  const registry = graphRegistry([
    {
      descriptor,
      create: () => {
        if (!isReady) throw new Error("no key yet");
        return notebook;
      },
    },
  ]);
  await expect(registry.open("notebook", opening)).rejects.toThrow("no key yet");
  isReady = true;
  expect(await registry.open("notebook", opening)).toBe(notebook);
});

it("refuses two graphs of one name, naming it", () => {
  const graph = { descriptor, create: () => notebook };
  expect(() => graphRegistry([graph, graph])).toThrow('"notebook"');
});
