import { createSimulatedClock } from "@throughline/ai-core";
import { expect, it, vi } from "vitest";
import { createMetrics } from "../operations/metrics.js";
import type { FileSweep, SweptFiles } from "./attachment-store.js";
import { startAttachmentSweeper } from "./file-sweep.js";

it("The sweeper deletes in the background until nothing is left, counts it, and goes on after a failure", async () => {
  const clock = createSimulatedClock(0);
  const metrics = createMetrics();
  const failures: string[] = [];
  const found: SweptFiles[] = [
    { unnamed: 50, unfinished: 2, orphaned: 0, stray: 0 },
    { unnamed: 3, unfinished: 0, orphaned: 0, stray: 1 },
  ];
  const asked: FileSweep[] = [];
  let isAway = true;
  const sweeper = startAttachmentSweeper({
    store: {
      async sweep(sweep) {
        if (isAway) throw new Error("the store is away");
        asked.push(sweep);
        return found.shift() ?? { unnamed: 0, unfinished: 0, orphaned: 0, stray: 0 };
      },
    },
    unnamedMs: 86_400_000,
    clock,
    random: () => 0.5,
    observer: { ...metrics.observer, failed: (message) => void failures.push(message) },
  });
  clock.advance(300_000);
  await vi.waitUntil(() => failures.length === 1);
  isAway = false;
  clock.advance(3_600_000);
  await vi.waitUntil(() => asked.length === 3);
  expect(asked[0]).toMatchObject({ unnamedMs: 86_400_000 });
  const told = await metrics.render();
  expect(told).toMatch(/throughline_files_swept_total\{kind="unnamed".*\} 53/);
  expect(told).toMatch(/throughline_files_swept_total\{kind="unfinished".*\} 2/);
  await sweeper.close();
  expect(clock.pending()).toBe(0);
  metrics.close();
});
