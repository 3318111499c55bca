import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function readPage() {
  const answer = await fetch(`${server.url}/docs`);
  const directives = (answer.headers.get("content-security-policy") ?? "").split("; ");
  return {
    answer,
    html: await answer.text(),
    policy: new Map(directives.map((directive) => [directive.split(" ")[0], directive])),
  };
}

describe("The page at /docs", () => {
  it("allows its own script and style by a nonce that no other page has, and nothing inline, evaluated or from elsewhere", async () => {
    const { html, policy } = await readPage();
    const nonce = /'nonce-([\w-]+)'/.exec(policy.get("script-src") ?? "")?.[1];
    expect(nonce).toMatch(/^[\w-]{22}$/);
    expect(Object.fromEntries(policy)).toEqual({
      "default-src": "default-src 'none'",
      "script-src": `script-src 'nonce-${nonce}'`,
      "style-src": `style-src 'nonce-${nonce}'`,
      "img-src": "img-src data:",
      "connect-src": "connect-src 'self'",
      "base-uri": "base-uri 'none'",
      "form-action": "form-action 'none'",
      "frame-ancestors": "frame-ancestors 'none'",
    });
    for (const [element] of html.matchAll(/<(?:script|style|link rel="stylesheet")[^>]*>/g)) {
      expect(element).toContain(`nonce="${nonce}"`);
    }
    expect((await readPage()).html).not.toContain(nonce);
  });

  it("is not kept by a cache, which would keep its nonce", async () => {
    const { answer } = await readPage();
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
  });

  it("names only addresses below its own, and each of them answers with what it is named for", async () => {
    const { html } = await readPage();
    const addresses = [...html.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    const files = addresses.filter((address) => address !== "data:,");
    expect(files.sort()).toEqual(["docs/swagger-ui-bundle.js", "docs/swagger-ui.css", "openapi.json"]);
    for (const [file, type, holds] of [
      ["docs/swagger-ui-bundle.js", "text/javascript", "SwaggerUIBundle"],
      ["docs/swagger-ui.css", "text/css", ".swagger-ui"],
    ] as const) {
      const answer = await fetch(new URL(file, `${server.url}/docs`));
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(await answer.text()).toContain(holds);
    }
  });
});
