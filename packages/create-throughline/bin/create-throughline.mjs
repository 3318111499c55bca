#!/usr/bin/env node
// Not the built file itself: package managers link a program when they install, before anything is built.

// Before the built files are imported: what an older Node lacks would end there as a SyntaxError.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Throughline needs Node 20.19 or newer, this is ${process.versions.node}. Install one from https://nodejs.org.`,
  );
  process.exit(1);
}

const { runCreate } = await import("../dist/index.js");
process.exitCode = await runCreate(process.argv.slice(2));
