import { expect, it } from "vitest";
import { newThread } from "../../conformance/log-scene.js";
import { threadTag } from "../../thread-ref.js";
import { decodeNotification, encodeNotification, type Notification } from "./notifications.js";

const [here, there] = ["instanc1", "instanc2"];

it("reads what another instance said and skips its own", () => {
  const messages: Notification[] = [
    { kind: "all" },
    { kind: "stop", runId: "0190-run" },
    { kind: "threads", tags: Array.from({ length: 3 }, () => threadTag(newThread())) },
  ];
  for (const message of messages) {
    expect(decodeNotification(there, encodeNotification(here, message))).toEqual(message);
    expect(decodeNotification(here, encodeNotification(here, message))).toBeUndefined();
  }
});

it("wakes everybody when the threads do not fit into PostgreSQL's 8,000 bytes", () => {
  const tags = (count: number) => Array.from({ length: count }, () => "12345678");
  const fitting = encodeNotification(here, { kind: "threads", tags: tags(998) });
  expect(fitting.length).toBeLessThan(8_000);
  expect(decodeNotification(there, fitting)).toMatchObject({ kind: "threads" });
  expect(decodeNotification(there, encodeNotification(here, { kind: "threads", tags: tags(999) }))).toEqual({
    kind: "all",
  });
});

it("wakes everybody on what it cannot read", () => {
  expect(decodeNotification(here, "whatever else")).toEqual({ kind: "all" });
  expect(decodeNotification(here, "")).toEqual({ kind: "all" });
});
