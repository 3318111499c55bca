import type { ThreadMessage } from "@throughline/agent-client";
import { expect, it } from "vitest";
import { sentOutcome } from "./use-draft";

const held: ThreadMessage = { id: "m", role: "user", content: "hello" };
const fresh = { message: undefined, isOwn: true, wasShown: false, isEditRequested: false, isComplete: true };
const former = { ...fresh, isOwn: false };

it("is settled as soon as the thread holds it", () => {
  expect(sentOutcome({ ...former, message: held })).toBe("settled");
});

it("waits while it is on its way, and while it stands in the conversation as not sent", () => {
  expect(sentOutcome({ ...fresh, message: { ...held, local: "sending" } })).toBe("waits");
  expect(sentOutcome({ ...fresh, message: { ...held, local: "unsent" } })).toBe("waits");
  // It was sent a moment ago, and has not been drawn.
  expect(sentOutcome(fresh)).toBe("waits");
});

it("is settled when what was shown is gone: somebody discarded it", () => {
  expect(sentOutcome({ ...fresh, wasShown: true })).toBe("settled");
});

it("is a draft again when somebody wants to write it anew, once nothing shows it", () => {
  const wanted = { ...fresh, wasShown: true, isEditRequested: true };
  expect(sentOutcome({ ...wanted, message: { ...held, local: "unsent" } })).toBe("waits");
  expect(sentOutcome(wanted)).toBe("back");
});

it("is a draft again when a former page sent it and the whole thread does not hold it", () => {
  expect(sentOutcome({ ...former, isComplete: false })).toBe("waits");
  expect(sentOutcome(former)).toBe("back");
});
