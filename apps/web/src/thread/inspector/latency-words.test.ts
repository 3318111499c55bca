import type { Envelope } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { latencyText } from "./log-row";
import type { LoggedEnvelope } from "./thread-log";

const arrived = (lateMs: number, origin: Envelope["origin"] = "live"): LoggedEnvelope => ({
  cursor: "e.1.0.log",
  at: 5_000 + lateMs,
  type: "custom",
  envelope: { type: "custom", ts: 5, origin } as Envelope,
  text: "{}",
});
const words = (...entries: readonly LoggedEnvelope[]) => latencyText({ entries, count: entries.length });

describe("the latency of a log", () => {
  it("is the median of what came live", () => {
    expect(words(arrived(10), arrived(900), arrived(30))).toBe("30 ms");
  });

  it("says nothing of what was told later", () => {
    expect(words(arrived(60_000, "replay"))).toBe("");
    expect(words(arrived(60_000, "replay"), arrived(20))).toBe("20 ms");
  });

  it("is never less than nothing, whatever the clocks say", () => {
    expect(words(arrived(-40))).toBe("0 ms");
  });

  it("looks at what has come, and no further", () => {
    expect(latencyText({ entries: [arrived(10), arrived(900)], count: 1 })).toBe("10 ms");
  });
});
