import { ThroughlineError } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.js";

/** A link to a file is its own permission: it is signed. */
const OPEN = [
  "GET /files/:token",
  "GET /health",
  "GET /ready",
  "GET /metrics",
  "GET /",
  "GET /openapi.json",
  "GET /docs",
  "GET /docs/swagger-ui-bundle.js",
  "GET /docs/swagger-ui.css",
];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    caller: {
      isSafeInPublic: true,
      async resolve() {
        throw new ThroughlineError("unauthorized", "Not signed in.");
      },
    },
  });
});
afterAll(() => server.close());

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;

describe("A caller who is not signed in", () => {
  it("finds only these routes open", () => {
    const open = server.handler.routes.filter(({ isOpen }) => isOpen);
    expect(open.map(nameOf)).toEqual(OPEN);
  });

  it("is shown no file without a link that was signed here", async () => {
    const claims = Buffer.from(JSON.stringify(["acme", null, "t", "one", 9e15])).toString("base64url");
    for (const token of ["x", claims, `${claims}.`, `${claims}.${"A".repeat(43)}`]) {
      expect((await fetch(`${server.url}/files/${token}`)).status).toBe(404);
    }
  });

  it("is refused by every other route, whatever it asks for", async () => {
    const closed = server.handler.routes.filter(({ isOpen }) => !isOpen);
    expect(closed.length).toBeGreaterThan(30);
    for (const { method, path } of closed) {
      const url = `${server.url}${path.replaceAll(/:\w+/g, "x")}`;
      const answers = await Promise.all([
        fetch(url, { method }),
        ...(method === "GET"
          ? []
          : [fetch(url, { method, body: "{}", headers: { "content-type": "application/json" } })]),
      ]);
      for (const answer of answers) {
        expect(`${method} ${path}: ${answer.status}`).toBe(`${method} ${path}: 401`);
        expect(await answer.json()).toMatchObject({ code: "unauthorized" });
      }
    }
  });
});
