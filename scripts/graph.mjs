// @ts-check
// npm run graph -- NAME [text]: serves the demo graphs and runs one of them, as `throughline run` does.
import { join } from "node:path";
import { runService } from "./run-service.mjs";
import { ensureReady } from "./workspace.mjs";
import { root } from "./workspace-packages.mjs";

await ensureReady();
const { runCli } = await import("../packages/cli/dist/index.js");
const args = process.argv.slice(2);
process.exit(args.includes("--help") || args.includes("-h") ? await runCli(["run", "--help"]) : await run());

async function run() {
  const service = runService({
    order: {
      args: ["--port", "0", "--log-level", "error"],
      defaults: {
        THROUGHLINE_DATA_DIR: join(root, ".throughline", "postgres"),
        THROUGHLINE_CONFIG: join(root, "packages", "langgraph-graphs", "langgraph.json"),
        THROUGHLINE_DRAIN_MS: "0",
      },
      hasWelcome: false,
    },
    onServing: ({ url }) => serving(url),
    onTrouble: (sentence) => console.error(sentence),
  });
  /** @type {(url: string) => void} */
  let serving = () => {};
  const url = await Promise.race([
    new Promise((/** @type {(url: string) => void} */ resolve) => {
      serving = resolve;
    }),
    service.ended,
  ]);
  if (typeof url === "number") return url;
  try {
    return await runCli(["run", ...args, "--url", url]);
  } finally {
    service.stop();
    await service.ended;
  }
}
