// @ts-check
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "tsdown";

const HERE = import.meta.dirname;

/** The published class, beside which the built files lie once the patch is applied: by module system. */
const PUBLISHED = { esm: "./index.mjs", cjs: "./index.js" };

/** What is built, and its name in the published package, where `.js` is CommonJS. */
const FILES = [
  { built: "connect.d.mts", file: "dist/connect.d.mts", published: PUBLISHED.esm },
  { built: "connect.d.cts", file: "dist/connect.d.ts", published: PUBLISHED.cjs },
  { built: "connect.cjs", file: "dist/connect.js", published: PUBLISHED.cjs },
  { built: "connect.mjs", file: "dist/connect.mjs", published: PUBLISHED.esm },
];

/**
 * The patch for `@ag-ui/langgraph`: readable files beside the minified ones, which stay as they are, and a manifest that
 * enters by the new ones.
 *
 * @returns {Promise<string>}
 */
export async function renderPatch() {
  const outDir = mkdtempSync(join(tmpdir(), "throughline-patch-"));
  try {
    await build({
      cwd: HERE,
      config: false,
      entry: { connect: "src/connect.ts" },
      format: ["esm", "cjs"],
      platform: "neutral",
      target: "es2022",
      dts: true,
      fixedExtension: true,
      outDir,
      deps: { neverBundle: [PUBLISHED.esm, "@ag-ui/client", "@langchain/langgraph-sdk", "rxjs"] },
      logLevel: "silent",
    });
    const added = FILES.map(({ built, file, published }) =>
      addition(file, readFileSync(join(outDir, built), "utf8").replaceAll(PUBLISHED.esm, published)),
    );
    return [...added, readFileSync(join(HERE, "package.json.diff"), "utf8")].join("");
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** The workspace's lock file, which names the patch by its hash: without this an install would refuse the new patch. */
export async function renderLockfile() {
  const lockfile = readFileSync(join(HERE, "../../pnpm-lock.yaml"), "utf8");
  const [, locked] = /^ {2}'@ag-ui\/langgraph@[^']+':\n {4}hash: ([0-9a-f]{64})$/m.exec(lockfile) ?? [];
  if (locked === undefined)
    throw new Error("pnpm-lock.yaml has no patch of @ag-ui/langgraph: run pnpm install.");
  const hash = createHash("sha256")
    .update(await renderPatch())
    .digest("hex");
  return lockfile.replaceAll(locked, hash);
}

/**
 * @param {string} file
 * @param {string} text
 */
function addition(file, text) {
  const lines = text.trimEnd().split("\n");
  return [
    `diff --git a/${file} b/${file}`,
    "new file mode 100644",
    "--- /dev/null",
    `+++ b/${file}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    "",
  ].join("\n");
}
