import type { MessageView } from "@throughline/agent-client";
import { expect, it } from "vitest";
import { becameOfSent } from "./became-of-sent";

const held: MessageView = { id: "m", role: "user", content: "hello" };
const fresh = { message: undefined, isOwn: true, wasShown: false, isWantedBack: false, isComplete: true };
const former = { ...fresh, isOwn: false };

it("is settled as soon as the thread holds it", () => {
  expect(becameOfSent({ ...former, message: held })).toBe("settled");
});

it("waits while it is on its way, and while it stands in the conversation as not sent", () => {
  expect(becameOfSent({ ...fresh, message: { ...held, local: "sending" } })).toBe("waits");
  expect(becameOfSent({ ...fresh, message: { ...held, local: "unsent" } })).toBe("waits");
  // It was sent a moment ago, and has not been drawn.
  expect(becameOfSent(fresh)).toBe("waits");
});

it("is settled when what was shown is gone: somebody discarded it", () => {
  expect(becameOfSent({ ...fresh, wasShown: true })).toBe("settled");
});

it("is a draft again when somebody wants to write it anew, once nothing shows it", () => {
  const wanted = { ...fresh, wasShown: true, isWantedBack: true };
  expect(becameOfSent({ ...wanted, message: { ...held, local: "unsent" } })).toBe("waits");
  expect(becameOfSent(wanted)).toBe("back");
});

it("is a draft again when a former page sent it and the whole thread does not hold it", () => {
  expect(becameOfSent({ ...former, isComplete: false })).toBe("waits");
  expect(becameOfSent(former)).toBe("back");
});
