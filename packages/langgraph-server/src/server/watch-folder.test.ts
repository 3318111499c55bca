import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSimulatedClock, type SimulatedClock } from "@throughline/ai-core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type WatchedFolder, watchFolder } from "./project-reload.js";

let folder: string;
let clock: SimulatedClock;
let changes: number;
let watched: WatchedFolder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "watched-"));
  mkdirSync(join(folder, "src"));
  mkdirSync(join(folder, "node_modules", "lib"), { recursive: true });
  clock = createSimulatedClock();
  changes = 0;
  watched = watchFolder(folder, {
    clock,
    onChange: () => {
      changes += 1;
    },
  });
});
afterEach(() => {
  watched.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (path: string, text = "") => writeFileSync(join(folder, path), text);

/** The kernel's word arrives when it does; the burst ends when the clock says so. */
async function settled(): Promise<void> {
  await vi.waitFor(() => expect(clock.pending()).toBe(1), { timeout: 5_000 });
  clock.advance(150);
}

it("tells once of a burst of changes", async () => {
  write("src/a.ts", "1");
  write("src/b.ts", "2");
  write("langgraph.json", "{}");
  await settled();
  expect(changes).toBe(1);
});

it("notices a file that an editor puts in another's place", async () => {
  write("src/a.ts~", "new");
  renameSync(join(folder, "src/a.ts~"), join(folder, "src/a.ts"));
  await settled();
  expect(changes).toBe(1);
});

it("notices files of a folder that was not there", async () => {
  mkdirSync(join(folder, "src", "later"));
  await settled();
  expect(changes).toBe(1);
  write("src/later/a.ts", "1");
  await settled();
  expect(changes).toBe(2);
});

it("passes over dependencies and what is no source", async () => {
  write("node_modules/lib/index.js", "1");
  write("src/notes.md", "1");
  write("src/a.ts", "1");
  await settled();
  expect(changes).toBe(1);
});

it("says nothing once it is closed", async () => {
  write("src/a.ts", "1");
  await vi.waitFor(() => expect(clock.pending()).toBe(1), { timeout: 5_000 });
  watched.close();
  clock.advance(1_000);
  expect(changes).toBe(0);
});
