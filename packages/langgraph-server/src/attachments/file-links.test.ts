import { afterEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.js";

const PNG = Buffer.from(`89504e470d0a1a0a${"00".repeat(400)}`, "hex");
const picture = {
  type: "image",
  source: { type: "data", value: PNG.toString("base64"), mimeType: "image/png" },
};

let server: TestServer;
afterEach(() => server.close());

async function run(content: readonly object[], more: object = {}): Promise<string> {
  const response = await fetch(server.route("chat", "run"), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({
      threadId: "t",
      messages: [{ id: `m${Math.random()}`, role: "user", content }],
      ...more,
    }),
  });
  return response.text();
}

function linkIn(frames: string): string {
  const [link] = /https?:[^"]*\/files\/[\w.-]+/.exec(frames) ?? [];
  if (link === undefined) throw new Error(`There is no link in ${frames.slice(0, 500)}`);
  return link;
}

describe("A stock client", () => {
  it("is given links that an image tag can fetch, on a page of any origin", async () => {
    server = await startTestServer();
    const link = linkIn(await run([picture]));
    expect(link.startsWith(`${server.url}/files/`)).toBe(true);
    const read = await fetch(link);
    expect(read.status).toBe(200);
    expect(Buffer.from(await read.arrayBuffer())).toEqual(PNG);
    expect(read.headers.get("content-type")).toBe("image/png");
    expect(read.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(read.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect((await fetch(`${link}x`)).status).toBe(404);
  });

  it("is given links below the address that is configured", async () => {
    server = await startTestServer({ publicUrl: "https://agents.example.org/line/" });
    expect(linkIn(await run([picture]))).toMatch(/^https:\/\/agents\.example\.org\/line\/files\//);
  });

  it("may send a link back with another message", async () => {
    server = await startTestServer();
    const link = linkIn(await run([picture]));
    const again = await run([{ type: "image", source: { type: "url", value: link } }]);
    expect(again).toContain("RUN_FINISHED");
    expect(linkIn(again)).toBe(link);
  });
});

describe("A client that asks for calls", () => {
  it("is given addresses of attachments, which it reads as its own caller", async () => {
    server = await startTestServer();
    const frames = await run([picture], { forwardedProps: { throughline: { calls: true } } });
    expect(frames).toMatch(/throughline:attachment\/[\w-]{43}/);
    expect(frames).not.toContain("/files/");
  });
});
