import type { JsonObject } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createDraftBuffer } from "../envelope-draft.js";
import { createStateChanges } from "./state.js";

/** A state whose large channel counts how often it is looked into. */
function stateOf(step: number, rows: readonly string[]) {
  const counted = { looks: 0 };
  const document = new Proxy([...rows], {
    get(target, key, receiver) {
      counted.looks += 1;
      return Reflect.get(target, key, receiver);
    },
  });
  return { values: { step, document }, counted };
}

const ROWS = ["one", "two"];

function tracked(initial: JsonObject = { step: 0, document: ROWS }) {
  const sink = createDraftBuffer();
  const root = { callId: "run", parentId: null, agent: "agent" };
  const tracker = createStateChanges({ sink, root, initial, stateKeys: ["step", "document"] });
  return { tracker, told: () => sink.take().map(({ type, payload }) => ({ type, payload })) };
}

const stepTo = (value: number) => ({
  type: "state_delta",
  payload: { ops: [{ op: "replace", path: "/step", value }] },
});

describe("the state of a run", () => {
  it("is looked into where updates named a channel, and nowhere else", () => {
    const { tracker, told } = tracked();
    tracker.values(stateOf(0, ROWS).values);
    for (const step of [1, 2]) {
      const { values, counted } = stateOf(step, ROWS);
      tracker.taskBegan(`task-${step}`);
      tracker.wrote({ step });
      tracker.taskEnded(`task-${step}`);
      tracker.values(values);
      expect(counted.looks).toBe(0);
    }
    expect(told()).toEqual([stepTo(1), stepTo(2)]);
  });

  it.each([
    ["at the beginning of a run, when others may have changed it", () => {}, false],
    ["after a task whose writes were told in an earlier run", (tracker) => tracker.taskBegan("reused"), true],
    ["when the graph tells no tasks", (tracker) => tracker.wrote({ step: 1 }), true],
    [
      "when no update was told",
      (tracker) => {
        tracker.taskBegan("silent");
        tracker.taskEnded("silent");
      },
      true,
    ],
  ] as const satisfies readonly [
    string,
    (tracker: ReturnType<typeof tracked>["tracker"]) => void,
    boolean,
  ][])("is compared whole %s", (_, happens, isUnderWay) => {
    const { tracker, told } = tracked();
    if (isUnderWay) tracker.values(stateOf(0, ROWS).values);
    happens(tracker);
    tracker.values(stateOf(0, [...ROWS, "three"]).values);
    expect(told()).toEqual([
      { type: "state_delta", payload: { ops: [{ op: "add", path: "/document/2", value: "three" }] } },
    ]);
  });

  it("loses a channel that is gone, though no update named it", () => {
    const { tracker, told } = tracked();
    tracker.values(stateOf(0, ROWS).values);
    tracker.taskBegan("task");
    tracker.wrote([{ step: 1 }, null]);
    tracker.taskEnded("task");
    tracker.values({ step: 1 });
    expect(told()).toEqual([
      {
        type: "state_delta",
        payload: {
          ops: [
            { op: "remove", path: "/document" },
            { op: "replace", path: "/step", value: 1 },
          ],
        },
      },
    ]);
  });
});
