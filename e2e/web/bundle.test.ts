import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const CONSOLE = fileURLToPath(new URL("../../apps/web/", import.meta.url));

/** Most that a route's first load may weigh, in KB, all of its scripts gzipped. */
const BUDGETS: Readonly<Record<string, number>> = {
  "/": 220,
  "/agents/[agent]": 235,
  "/agents/[agent]/[thread]": 235,
  "/agents/[agent]/shared/[thread]": 235,
  "/crons": 225,
  "/crons/[id]": 228,
  "/crons/new": 226,
  "/feedback": 225,
  "/inbox": 235,
  "/sign-in": 165,
  "/usage": 225,
};
const SHOWN = 5;

interface Route {
  readonly route: string;
  readonly firstLoadChunkPaths: readonly string[];
}

const routes: readonly Route[] = JSON.parse(
  readFileSync(join(CONSOLE, ".next/diagnostics/route-bundle-stats.json"), "utf8"),
);

const sourceOf = (chunk: string) => readFileSync(join(CONSOLE, chunk), "utf8");
const kilobytes = (bytes: number) => Math.round(bytes / 102.4) / 10;

function weightOf({ firstLoadChunkPaths }: Route): number {
  return firstLoadChunkPaths.reduce((sum, chunk) => sum + gzipSync(sourceOf(chunk), { level: 9 }).length, 0);
}

/** A production build has no names for modules: their longest words tell what they are. */
function largestModules({ firstLoadChunkPaths }: Route): readonly string[] {
  return firstLoadChunkPaths
    .flatMap((chunk) => modulesIn(sourceOf(chunk)))
    .map((source) => ({ source, bytes: gzipSync(source).length }))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, SHOWN)
    .map(({ source, bytes }) => `${kilobytes(bytes)} KB with ${wordsIn(source).join(", ")}`);
}

/** Run without a page, a chunk of Turbopack's does nothing but hand over its modules, as functions. */
function modulesIn(source: string): readonly string[] {
  const handed: unknown[][] = [];
  try {
    runInNewContext(source, { TURBOPACK: handed, document: {} });
  } catch {
    // The runtime itself, which does want a page.
  }
  return handed.flat().flatMap((part) => (typeof part === "function" ? [String(part)] : []));
}

function wordsIn(source: string): readonly string[] {
  const words = new Set(source.match(/"[A-Za-z][\w $-]{7,39}"/g));
  return [...words].sort((a, b) => b.length - a.length).slice(0, 4);
}

describe("The console's first load", () => {
  it("has a budget for every page there is", () => {
    const pages = routes.map(({ route }) => route).filter((route) => !route.startsWith("/_"));
    expect(Object.keys(BUDGETS).sort()).toEqual(pages.sort());
  });

  it.each(Object.entries(BUDGETS))("of %s is within %i KB", (path, budget) => {
    const route = routes.find((one) => one.route === path);
    const weight = kilobytes(route ? weightOf(route) : Number.NaN);
    const largest = route && weight > budget ? largestModules(route) : [];
    expect(weight, `the largest modules:\n${largest.join("\n")}\n`).toBeLessThanOrEqual(budget);
  });

  it("holds the small zod alone", () => {
    const chunks = new Set(routes.flatMap(({ firstLoadChunkPaths }) => firstLoadChunkPaths));
    const withZod = [...chunks].filter((chunk) => /"Zod(Object|String)"/.test(sourceOf(chunk)));
    expect(withZod).toEqual([]);
  });
});
