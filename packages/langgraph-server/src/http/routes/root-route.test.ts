import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

const CONSOLE = "https://console.example.com/?a=1&b=2";

describe("The service's own address", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ consoleUrl: CONSOLE, version: "1.2.3" });
  });
  afterAll(() => server.close());

  it("tells a program where description and console are, without sign-in", async () => {
    const response = await fetch(server.url);
    expect(await response.json()).toEqual({
      service: "throughline",
      version: "1.2.3",
      docs: `${server.url}/docs`,
      openapi: `${server.url}/openapi.json`,
      console: CONSOLE,
    });
    expect(response.headers.get("vary")).toContain("accept");
  });

  it("is a page with the same links in a browser", async () => {
    const response = await fetch(server.url, { headers: { accept: "text/html,application/xhtml+xml" } });
    expect(response.headers.get("content-type")).toMatch(/^text\/html; charset=utf-8$/i);
    const html = await response.text();
    expect(html).toContain('href="https://console.example.com/?a=1&amp;b=2"');
    expect(html).toContain(`href="${server.url}/docs"`);
  });

  it("says that no console is configured where that is so", async () => {
    const alone = await startTestServer();
    expect(await (await fetch(alone.url)).json()).toMatchObject({ console: null });
    const html = await (await fetch(alone.url, { headers: { accept: "text/html" } })).text();
    expect(html).toContain("THROUGHLINE_CONSOLE_URL");
    await alone.close();
  });
});

describe("The list of agents", () => {
  it("says who answers without a model, and what each is good for", async () => {
    const server = await startTestServer();
    const { agents } = Object(await (await fetch(`${server.url}/agents`)).json());
    expect(agents).not.toHaveLength(0);
    for (const agent of agents) {
      expect(agent).toMatchObject({
        answeredBy: "script",
        suggestions: expect.arrayContaining([expect.any(String)]),
      });
      expect(agent).not.toHaveProperty("hasScript");
    }
    await server.close();
  });
});
