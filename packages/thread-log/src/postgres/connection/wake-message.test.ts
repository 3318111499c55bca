import { expect, it } from "vitest";
import { newThread } from "../../conformance/log-scene.js";
import { wakeTag } from "../../thread-ref.js";
import { decodeWake, encodeWake, type WakeMessage } from "./notifications.js";

const [here, there] = ["instanc1", "instanc2"];

it("reads what another instance said and skips its own", () => {
  const messages: WakeMessage[] = [
    { kind: "all" },
    { kind: "stop", runId: "0190-run" },
    { kind: "threads", tags: Array.from({ length: 3 }, () => wakeTag(newThread())) },
  ];
  for (const message of messages) {
    expect(decodeWake(there, encodeWake(here, message))).toEqual(message);
    expect(decodeWake(here, encodeWake(here, message))).toBeUndefined();
  }
});

it("wakes everybody when the threads do not fit into PostgreSQL's 8,000 bytes", () => {
  const tags = (count: number) => Array.from({ length: count }, () => "12345678");
  const fitting = encodeWake(here, { kind: "threads", tags: tags(998) });
  expect(fitting.length).toBeLessThan(8_000);
  expect(decodeWake(there, fitting)).toMatchObject({ kind: "threads" });
  expect(decodeWake(there, encodeWake(here, { kind: "threads", tags: tags(999) }))).toEqual({ kind: "all" });
});

it("wakes everybody on what it cannot read", () => {
  expect(decodeWake(here, "whatever else")).toEqual({ kind: "all" });
  expect(decodeWake(here, "")).toEqual({ kind: "all" });
});
