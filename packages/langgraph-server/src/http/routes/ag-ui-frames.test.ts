import { describe, expect, it } from "vitest";
import { finalAgUiFrames } from "./ag-ui-frames.js";

const IDS = { threadName: "plan", runId: "run-1" };
const told = (reason: "failed" | "shutting_down" | "expired") =>
  Buffer.concat(finalAgUiFrames(IDS, { reason, runOpen: true }, true)).toString();

describe("A stream that ends while its run goes on", () => {
  it("P65: has no terminal frame where it broke on our side", () => {
    expect(told("failed")).toBe("");
  });

  it.each([
    ["shutting_down", "shutting_down"],
    ["expired", "unauthorized"],
  ] as const)("P65: says %s in a terminal without an id, so that its cursor still serves", (reason, code) => {
    const frames = told(reason);
    expect(frames).toContain(`"code":"${code}"`);
    expect(frames).toContain('"type":"RUN_ERROR"');
    expect(frames).not.toMatch(/^id:/m);
  });
});
