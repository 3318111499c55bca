#!/usr/bin/env node
// Not the built file itself: package managers link a program when they install, before anything is built.
import { existsSync, readFileSync } from "node:fs";

// Before the built files are imported: what an older Node lacks would end there as a SyntaxError.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Throughline needs Node 20.19 or newer, this is ${process.versions.node}. Install one from https://nodejs.org.`,
  );
  process.exit(1);
}

// The first process of a container ignores a signal that nothing handles, and `serve` handles this one only once it is loaded.
if (process.argv[2] === "serve") {
  process.on("SIGTERM", () => process.listenerCount("SIGTERM") === 1 && process.exit(143));
}

const built = new URL("../dist/index.js", import.meta.url);
if (!existsSync(built)) {
  console.error("Throughline is not built yet. In its own repository, run: npm run build");
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const { runCli } = await import(built.href);
// `| head` closes the pipe when it has read enough. A server goes on without a reader.
if (process.argv[2] !== "serve") process.stdout.once("error", () => process.exit(0));
const code = await runCli(process.argv.slice(2), { version });
// Connections that are kept for a next request must not keep a person waiting; what was written gets out first.
process.stdout.write("", () => process.exit(code));
