import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { AskedOfPage } from "./tab.js";

export interface PageServer {
  /** Of the page of one thread. */
  pageUrl(asked: AskedOfPage): string;
  /** How many streams pages have asked for. */
  connects(): number;
  /** How many of them are open. */
  openStreams(): number;
  /** What is open says nothing more, as after a sleep: neither side knows. What is opened after that works. */
  mute(): void;
  stop(): Promise<void>;
}

let bundled: Promise<string> | undefined;

/** The page, and behind the same origin the service: a page's requests go on to it, and break off with it. */
export async function servePage(options: {
  /** Asked for each request. */
  readonly target: () => string;
  readonly token?: () => Promise<string>;
  /** The page's own script; by default one that shows a thread and lets a test drive it. */
  readonly script?: string;
}): Promise<PageServer> {
  if (options.script === undefined) bundled ??= bundle();
  const script = options.script ?? (await bundled);
  const silent = new Set<{ isMute: boolean }>();
  let connects = 0;
  let openStreams = 0;

  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = asked.url ?? "/";
    if (path.startsWith("/api/")) return pass(asked, response);
    if (path === "/page.js") return void response.setHeader("content-type", "text/javascript").end(script);
    if (path === "/token") return void response.end(await options.token?.());
    const page = `<!doctype html><body><script>asked = ${decodeURIComponent(path.slice(1))}</script><script src="/page.js"></script>`;
    response.setHeader("content-type", "text/html").end(page);
  }

  function pass(asked: IncomingMessage, response: ServerResponse): void {
    if (asked.url?.endsWith("/follow")) {
      connects += 1;
      openStreams += 1;
      response.once("close", () => {
        openStreams -= 1;
      });
    }
    const line = { isMute: false };
    silent.add(line);
    const { method, headers } = asked;
    const upstream = request(new URL(asked.url ?? "/", options.target()), { method, headers, agent: false });
    // A network breaks without a word; a proxy that says 502 is another case.
    const breakOff = () => {
      if (!line.isMute) response.destroy();
    };
    upstream.on("error", breakOff);
    upstream.on("response", (answered) => {
      if (line.isMute) return;
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      response.flushHeaders();
      answered.on("data", (bytes) => {
        if (!line.isMute) response.write(bytes);
      });
      answered.on("end", () => {
        if (!line.isMute) response.end();
      });
      answered.on("error", breakOff);
    });
    response.on("close", () => {
      silent.delete(line);
      upstream.destroy();
    });
    asked.pipe(upstream);
  }

  const server = createServer((asked, response) => void answer(asked, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    pageUrl: (wanted) => `http://127.0.0.1:${port}/${encodeURIComponent(JSON.stringify(wanted))}`,
    connects: () => connects,
    openStreams: () => openStreams,
    mute() {
      for (const line of silent) line.isMute = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./page.ts", import.meta.url))],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    target: "es2022",
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
