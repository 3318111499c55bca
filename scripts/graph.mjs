// npm run graph -- NAME [text]: runs a graph in this process. See --help.
import { ensureReady } from "./workspace.mjs";

await ensureReady();
const { main } = await import("../packages/langgraph-graphs/dist/cli.js");

process.exitCode = await main(process.argv.slice(2));
// After Ctrl-C a tool may still be at work: leave without it.
if (process.exitCode === 130) process.exit();
