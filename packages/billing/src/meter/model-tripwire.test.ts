import { describe, expect, it } from "vitest";
import { madeRun } from "../testing/made-run.js";
import { madeUnit } from "../testing/made-unit.js";
import { type MeteredRun, withMeteredRun } from "./metered-run.js";
import { createModelTripwire } from "./model-tripwire.js";

describe("the tripwire", () => {
  function scene() {
    const unmetered: (MeteredRun | undefined)[] = [];
    return { unmetered, wire: createModelTripwire({ onUnmetered: (run) => unmetered.push(run) }) };
  }
  const run = madeRun("a");
  const unit = madeUnit({ runId: run.runId });

  it("is quiet when a model's call went through the meter", () => {
    const { unmetered, wire } = scene();
    withMeteredRun(run, () => wire.callbacks.handleChatModelStart({}, [], "call-1"));
    wire.opened(unit);
    wire.callbacks.handleLLMEnd({}, "call-1");
    expect(unmetered).toEqual([]);
  });

  it("tells of a model that answered, or failed, without a request in its run", () => {
    const { unmetered, wire } = scene();
    wire.opened(unit);
    withMeteredRun(run, () => wire.callbacks.handleChatModelStart({}, [], "call-1"));
    wire.callbacks.handleLLMEnd({}, "call-1");
    withMeteredRun(run, () => wire.callbacks.handleLLMStart({}, [], "call-2"));
    wire.opened(madeUnit({ runId: "another" }));
    wire.callbacks.handleLLMError(new Error("…"), "call-2");
    expect(unmetered).toEqual([run, run]);
  });

  it("tells of a model outside any run, and of each call once", () => {
    const { unmetered, wire } = scene();
    wire.callbacks.handleChatModelStart({}, [], "call-1");
    wire.callbacks.handleLLMEnd({}, "call-1");
    wire.callbacks.handleLLMEnd({}, "call-1");
    expect(unmetered).toEqual([undefined]);
  });
});
