import { expect, it } from "vitest";
import { connectionText } from "./connection-text";

it("counts down to the next try, and offers not to wait for it", () => {
  const status = { kind: "reconnecting", attempt: 3, retryAt: 10_000 } as const;
  expect(connectionText(status, 5_500)).toMatchObject({ words: "Reconnecting in 5 s", canReconnect: true });
  expect(connectionText(status, 10_200)).toMatchObject({ words: "Reconnecting…", canReconnect: true });
});

it("says the same to whoever hears the page for as long as it counts", () => {
  const status = { kind: "reconnecting", attempt: 3, retryAt: 10_000 } as const;
  expect(connectionText(status, 1_000).announcement).toBe(connectionText(status, 9_000).announcement);
});

it("offers nothing to press while the browser is offline: it goes on by itself", () => {
  const status = { kind: "reconnecting", attempt: 1, retryAt: undefined } as const;
  expect(connectionText(status, 0)).toMatchObject({ words: "Offline", canReconnect: false });
});

it("says what was repaired, and what to do about what failed", () => {
  expect(connectionText({ kind: "gap-repaired" }, 0)).toMatchObject({
    tone: "live",
    words: "Live, gap repaired",
  });
  const failed = { kind: "failed", reason: "unauthorized", message: "Sign in again." } as const;
  expect(connectionText(failed, 0)).toMatchObject({
    tone: "failed",
    words: "Sign in again.",
    canReconnect: true,
  });
});
