import type { OpenApiDocument } from "@throughline/langgraph-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listOperations } from "../../packages/langgraph-server/src/testing/documented-request.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";
import { type Chromium, hasChromium, launchChromium } from "../browser/chromium.js";

describe.runIf(hasChromium())("The page at /docs, in a browser,", { timeout: 60_000 }, () => {
  let server: TestServer;
  let chromium: Chromium;
  beforeAll(async () => {
    [server, chromium] = await Promise.all([startTestServer(), launchChromium()]);
  }, 60_000);
  afterAll(async () => {
    await chromium?.close();
    await server?.close();
  });

  it("shows every operation and runs one, asks no other host, and breaks none of its own rules", async () => {
    // A parsed boundary: our own answer, which has a test of its own.
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
    const operations = listOperations({ document });
    const page = await chromium.context.newPage();
    const asked = new Set<string>();
    const complaints: string[] = [];
    page.on("request", (request) => asked.add(new URL(request.url()).origin));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    await page.goto(`${server.url}/docs`);
    const shown = page.locator(".opblock");
    await expect.poll(() => shown.count(), { timeout: 30_000 }).toBe(operations.length);

    const health = page.locator("#operations-operations-getHealth");
    await health.getByRole("button").first().click();
    await health.getByRole("button", { name: "Try it out" }).click();
    await health.getByRole("button", { name: "Execute" }).click();
    const live = health.locator(".live-responses-table .response").first();
    await live.waitFor();
    expect(await live.locator(".response-col_status").textContent()).toContain("200");

    expect([...asked].filter((origin) => origin !== "null")).toEqual([server.url]);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
