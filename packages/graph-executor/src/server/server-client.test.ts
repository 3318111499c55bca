import { createServer, type IncomingMessage, type Server } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { BARE_ID, createServerClient } from "./client.js";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let server: Server;
let url = "";
const seen: Seen[] = [];
let status = 200;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = "";
    for await (const bytes of request) body += bytes;
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    response.writeHead(status, { "content-type": "application/json" }).end("[]");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterEach(() => {
  seen.length = 0;
  status = 200;
  vi.unstubAllEnvs();
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe("the client of a LangGraph server", () => {
  it("sends its own key and no other header that the server would store", async () => {
    await createServerClient({ url, apiKey: "secret" }).runs.list("t");
    const extensions = Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith("x-"));
    expect(extensions).toEqual(["x-api-key"]);
    expect(seen[0]?.headers["x-api-key"]).toBe("secret");
  });

  it("sends no key that only happens to be in the environment", async () => {
    vi.stubEnv("LANGSMITH_API_KEY", "not-for-you");
    await createServerClient({ url }).runs.list("t");
    expect(JSON.stringify(seen)).not.toContain("not-for-you");
  });

  it("cancels without waiting, whatever the SDK would ask for", async () => {
    await createServerClient({ url }).runs.cancel("t", "r");
    expect(seen[0]?.url).toBe("/threads/t/runs/r/cancel?action=interrupt");
  });

  it("asks for history before a checkpoint in the form that its server takes", async () => {
    const { threads } = createServerClient({ url });
    const before = { configurable: { checkpoint_id: "c1" } };
    const bare = { configurable: { ...before.configurable, [BARE_ID]: true } };
    await threads.getHistory("t", { limit: 2, before: bare });
    await threads.getHistory("t", { limit: 2, before });
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      { limit: 2, before: "c1" },
      { limit: 2, before },
    ]);
  });

  it("never sends a create twice", async () => {
    status = 503;
    await expect(createServerClient({ url }).runs.create("t", "graph", {})).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });
});
