import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface DevServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The official dev server with the catalogue's graphs, on a free port and with a folder of its own. */
export async function startDevServer(env: Readonly<Record<string, string>> = {}): Promise<DevServer> {
  const cwd = mkdtempSync(join(tmpdir(), "throughline-executor-"));
  const { startLanggraphDev } = await import("../../../../../scripts/langgraph-dev.mjs");
  const server = await startLanggraphDev({
    port: 0,
    quiet: true,
    cwd,
    env: { LITELLM_BASE_URL: "", THROUGHLINE_OFFLINE_PACE_MS: "4", ...env },
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}
