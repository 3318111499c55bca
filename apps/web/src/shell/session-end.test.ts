// @vitest-environment happy-dom
import { beforeEach, expect, it, vi } from "vitest";
import { endSession, sessionRanOut } from "./session-end";

const goTo = vi.spyOn(location, "assign").mockImplementation(() => {});

function answerWith(answer: () => Promise<Response>): void {
  vi.stubGlobal("fetch", answer);
}

beforeEach(() => {
  goTo.mockClear();
  dispatchEvent(new Event("pageshow"));
});

it("leads to the door when the session ran out, and from there back", () => {
  sessionRanOut();
  expect(goTo).toHaveBeenCalledWith(`/sign-in?to=${encodeURIComponent(location.pathname)}`);
});

it("does not lead anywhere while somebody signs out, nor after, until the page is shown again", async () => {
  answerWith(async () => {
    sessionRanOut();
    return new Response(null, { status: 204 });
  });
  expect(await endSession()).toBe(true);
  sessionRanOut();
  expect(goTo).not.toHaveBeenCalled();
  dispatchEvent(new Event("pageshow"));
  sessionRanOut();
  expect(goTo).toHaveBeenCalledOnce();
});

it("leads to the door again when signing out did not work", async () => {
  answerWith(() => Promise.reject(new TypeError("away")));
  expect(await endSession()).toBe(false);
  sessionRanOut();
  expect(goTo).toHaveBeenCalledOnce();
});
