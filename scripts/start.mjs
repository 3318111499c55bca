// @ts-check
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bold, builtSentence, installedSentence, runStep } from "./steps.mjs";
import { ensureBuilt, ensureInstalled, ensureNode } from "./workspace.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const USAGE = [
  "npm start [-- FLAGS]",
  "",
  "Installs what is missing, builds what changed and runs `throughline serve`: the six agents, a PostgreSQL of its own in",
  ".throughline/, and the AG-UI routes in front of them. Needs no key: without one, an offline model answers.",
  "Ctrl-C stops everything.",
  "",
  "  npm start -- --port 9000   listen on this port (default: PORT, else 8000 or the next free one)",
  "",
  "Some of what the environment may say; docs/configuration.md has all of it, and every flag:",
  "  LANGGRAPH_DATABASE_URL   your own PostgreSQL instead of the embedded one",
  "  LANGGRAPH_DEV_URL        run the agents on a LangGraph dev server; LANGGRAPH_SERVER_URL: on a LangGraph server",
  "  LITELLM_BASE_URL         real models, with LITELLM_API_KEY",
  "  THROUGHLINE_LOG_LEVEL    silent, error, warn, info or debug (default: warn)",
  "  THROUGHLINE_JWT_SECRET   callers must sign in; THROUGHLINE_JWKS_URL: with your issuer's keys",
  "  THROUGHLINE_HOST         listen on this address; all but loopback need sign-in",
].join("\n");

const flags = process.argv.slice(2);
if (flags.includes("--help") || flags.includes("-h")) {
  console.log(USAGE);
  process.exit(0);
}

ensureNode();
console.log(bold("Throughline"));
await runStep(() => ensureInstalled("run"), installedSentence);
await runStep(ensureBuilt, builtSentence);

// npm runs this through a shell that passes no signal on: when whoever started us is gone, so are we.
const gone = new AbortController();
const startedBy = process.ppid;
setInterval(() => process.ppid === startedBy || gone.abort(), 1_000).unref();

// Only now is everything there that it may import.
const { runCli } = await import("../packages/langgraph-server/dist/index.js");
const code = await runCli(["serve", ...flags], {
  defaults: {
    THROUGHLINE_LOG_LEVEL: "warn",
    THROUGHLINE_DRAIN_MS: "2000",
    THROUGHLINE_DATA_DIR: join(ROOT, ".throughline", "postgres"),
  },
  signal: gone.signal,
});
process.exit(code);
