import { describe, expect, it } from "vitest";
import { madeRun } from "../testing/made-run.js";
import { madeUnit } from "../testing/made-unit.js";
import { createUnmeteredCallDetector } from "./install-fetch.js";
import { type MeteredRun, withMeteredRun } from "./metered-fetch.js";

describe("the tripwire", () => {
  function scene() {
    const unmetered: (MeteredRun | undefined)[] = [];
    return { unmetered, wire: createUnmeteredCallDetector({ onUnmetered: (run) => unmetered.push(run) }) };
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

  it("tells of a model that answered without a request in its run", () => {
    const { unmetered, wire } = scene();
    wire.opened(unit);
    withMeteredRun(run, () => wire.callbacks.handleChatModelStart({}, [], "call-1"));
    wire.callbacks.handleLLMEnd({}, "call-1");
    withMeteredRun(run, () => wire.callbacks.handleLLMStart({}, [], "call-2"));
    wire.opened(madeUnit({ runId: "another" }));
    wire.callbacks.handleLLMEnd({}, "call-2");
    expect(unmetered).toEqual([run, run]);
  });

  it("is quiet about a call that failed before its request: it was stopped, refused, or could not be written as one", () => {
    const { unmetered, wire } = scene();
    withMeteredRun(run, () => wire.callbacks.handleChatModelStart({}, [], "call-1"));
    wire.callbacks.handleLLMError(new DOMException("The run was stopped.", "AbortError"), "call-1");
    expect(unmetered).toEqual([]);
  });

  it("is quiet about an answer from LangChain's cache", () => {
    const { unmetered, wire } = scene();
    withMeteredRun(run, () => wire.callbacks.handleChatModelStart({}, [], "call-1"));
    wire.callbacks.handleLLMEnd({}, "call-1", undefined, undefined, { cached: true });
    expect(unmetered).toEqual([]);
  });

  it("remembers a run that keeps calling models, however many others come and go", () => {
    const { unmetered, wire } = scene();
    wire.opened(unit);
    for (let other = 0; other < 9_999; other++) wire.opened(madeUnit({ runId: `other-${other}` }));
    wire.opened(unit);
    withMeteredRun(run, () => wire.callbacks.handleChatModelStart({}, [], "call-1"));
    wire.opened(madeUnit({ runId: "one more" }));
    wire.opened(unit);
    wire.callbacks.handleLLMEnd({}, "call-1");
    expect(unmetered).toEqual([]);
  });

  it("tells of a model outside any run, and of each call once", () => {
    const { unmetered, wire } = scene();
    wire.callbacks.handleChatModelStart({}, [], "call-1");
    wire.callbacks.handleLLMEnd({}, "call-1");
    wire.callbacks.handleLLMEnd({}, "call-1");
    expect(unmetered).toEqual([undefined]);
  });
});
