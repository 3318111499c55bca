import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checkpointEquals } from "../graphs/checks.js";
import { GALLERY } from "../graphs/gallery.js";
import type { PlainTurn } from "../graphs/plain-graph.js";
import { type GalleryClient, galleryClient } from "../graphs/served-graph.js";
import { copiesOf } from "../install/rig/copies.js";
import { type StartedCommand, type Stranger, stranger } from "../install/rig/stranger.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { COMBINATIONS, type Combination } from "./combinations.js";
import { installProject } from "./project.js";

const LONG = 600_000;
const PATIENCE = { timeout: 120_000, interval: 50 };

/** Of modules that need nothing but LangGraph, and that its first release loads. */
const NAMES = [
  "plainChat",
  "responsesApi",
  "router",
  "handmadeCall",
  "retryPolicy",
  "functional",
  "sharedSubgraph",
  "calledSubgraph",
  "twoInterrupts",
  "nestedInterrupts",
  "breakpoint",
  "customWriter",
  "storeUser",
  "nodeThrows",
];
const ENTRIES = GALLERY.filter(({ name }) => NAMES.includes(name));
const results = new Map<Combination, { installed: number; passed: number }>();

let postgres: RigPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
  process.stdout.write(table());
});

describe.each(COMBINATIONS.map((combination) => ({ ...combination, combination })))(
  "LangGraph $langgraph with core $core, installed by $manager",
  { timeout: LONG },
  ({ combination }) => {
    let person: Stranger;
    let server: StartedCommand;
    let client: GalleryClient;
    let plain: Readonly<Record<string, readonly PlainTurn[]>>;
    const result = { installed: 0, passed: 0 };

    beforeAll(async () => {
      results.set(combination, result);
      person = stranger();
      const begin = performance.now();
      await installProject(person, combination, ENTRIES);
      result.installed = performance.now() - begin;
      const printed = await person.run(process.execPath, [
        "--import",
        "tsx",
        "graphs/print-plain.ts",
        ...NAMES,
      ]);
      plain = JSON.parse(printed.trim().split("\n").at(-1) ?? "");
      const serve = ["node_modules/@throughline/cli/bin/throughline.mjs", "serve", "--port", "0"];
      const env = { LANGGRAPH_DATABASE_URL: await postgres.createDatabase() };
      server = person.start(process.execPath, serve, { env });
      await vi.waitFor(() => expect(server.printed()).toContain("Ctrl-C stops everything."), PATIENCE);
      client = galleryClient(/http:\/\/127\.0\.0\.1:\d+/.exec(server.printed())?.[0] ?? "");
    }, LONG);
    afterAll(() => person.leave(), LONG);

    it("has one copy of LangChain's core and of LangGraph", () => {
      for (const name of ["@langchain/core", "@langchain/langgraph"]) {
        expect([name, copiesOf(person.folder, name)]).toEqual([name, 1]);
      }
    });

    it.each(ENTRIES.map((entry) => ({ ...entry, entry })))(
      "runs $name as the plain graph runs",
      async ({ name, entry }) => {
        checkpointEquals({ plain: plain[name] ?? [], served: await client.run(entry, "0.0") });
        result.passed += 1;
      },
    );
  },
);

function table(): string {
  const rows = [...results].map(([{ manager, langgraph, core }, { installed, passed }]) =>
    [langgraph, core, manager, `${(installed / 1000).toFixed(0)} s`, `${passed} of ${ENTRIES.length}`].map(
      (cell, at) => cell.padEnd(WIDTHS[at] ?? 0),
    ),
  );
  const head = ["LangGraph", "core", "package manager", "install", "graphs"].map((cell, at) =>
    cell.padEnd(WIDTHS[at] ?? 0),
  );
  return `\n${[head, ...rows].map((cells) => cells.join("").trimEnd()).join("\n")}\n\n`;
}
const WIDTHS = [12, 10, 18, 10];
