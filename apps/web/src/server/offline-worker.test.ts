import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { offlineWorker } from "./offline-worker";

type Listener = (event: object) => void;

/** The worker as a browser runs it; `fetch` is the way to the console. */
function start(fetch: () => Promise<Response>) {
  const listeners = new Map<string, Listener>();
  runInNewContext(offlineWorker, {
    Response,
    fetch,
    skipWaiting() {},
    registration: {},
    addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
  });
  return (mode: string): Promise<Response> | undefined => {
    let answer: Promise<Response> | undefined;
    const respondWith = (given: Promise<Response>) => {
      answer = given;
    };
    listeners.get("fetch")?.({ request: { mode }, preloadResponse: Promise.resolve(undefined), respondWith });
    return answer;
  };
}

const away = () => Promise.reject(new TypeError("Failed to fetch"));

describe("The console's service worker", () => {
  it("shows a page of ours where the console can't be reached", async () => {
    const answer = await start(away)("navigate");
    expect(answer?.status).toBe(503);
    expect(await answer?.text()).toContain("The console can't be reached");
  });

  it("passes pages on as they are", async () => {
    const page = new Response("a page");
    expect(await start(async () => page)("navigate")).toBe(page);
  });

  it("leaves requests of pages alone", () => {
    expect(start(away)("cors")).toBeUndefined();
    expect(start(away)("no-cors")).toBeUndefined();
  });
});
