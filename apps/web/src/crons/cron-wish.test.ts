import { describe, expect, it } from "vitest";
import type { Cron } from "../data/crons";
import { draftOf, newDraft, toCronRequest } from "./cron-draft";

const CRON: Cron = {
  id: "c1",
  agent: "langgraph:sentinel",
  threadName: "watch",
  schedule: "every 10 s",
  timeZone: "UTC",
  input: { command: { name: "cycle", args: { deep: true } } },
  model: null,
  overlap: "skip",
  missed: "run_once",
  jitterMs: 0,
  enabled: true,
  nextAt: null,
  lastTick: null,
  createdAt: "2026-01-01T00:00:00.000Z",
};

describe("the form of a cron", () => {
  it("asks for the very same when nothing is changed", () => {
    for (const cron of [CRON, { ...CRON, threadName: null, input: { message: "Hello" } }]) {
      const { agent, threadName, schedule, timeZone, input, overlap, missed } = cron;
      expect(toCronRequest(draftOf(cron), cron)).toEqual({
        isReady: true,
        request: { agent, threadName, schedule, timeZone, input, overlap, missed },
      });
    }
  });

  it("keeps a state that it can't show", () => {
    const cron = { ...CRON, input: { message: "Hello", state: { mood: "calm" } } };
    expect(toCronRequest({ ...draftOf(cron), message: "Bye" }, cron)).toMatchObject({
      request: { input: { message: "Bye", state: { mood: "calm" } } },
    });
  });

  it("says what is missing, field by field", () => {
    const draft = { ...newDraft("", "UTC"), schedule: " ", threadName: "" };
    expect(toCronRequest(draft)).toMatchObject({
      isReady: false,
      problems: { agent: /./, schedule: /./, threadName: /./, message: /./ },
    });
  });

  it("refuses arguments that are no object", () => {
    for (const args of ["[1]", "{", '"a"', "null"]) {
      const draft = {
        ...newDraft("langgraph:sentinel", "UTC"),
        does: "command",
        command: "cycle",
        args,
      } as const;
      expect(toCronRequest(draft)).toMatchObject({ isReady: false, problems: { args: /JSON object/ } });
    }
  });
});
