import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { isNewer } from "./commands/mutation-ids.js";
import { currentMessages, type ThreadView } from "./projection/thread-view.js";
import { createModelWorld, type ModelPage } from "./testing/model-world.js";
import { breathe, calmDown, takeStep } from "./testing/move-world.js";

vi.setConfig({ testTimeout: 600_000 });

const RUNS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 300);

const KINDS = [
  "arrive",
  "arrive",
  "arrive",
  "arrive",
  "arrive",
  "lose",
  "cut",
  "beat",
  "time",
  "time",
  "go-on",
  "go-on",
  "elsewhere",
  "trim",
  "run",
  "queue",
  "retry",
  "sync",
  "sync",
  "fire",
  "stop",
  "poll",
  "reload",
  "hand-over",
  "yield",
  "close-page",
  "open-page",
  "offline",
  "online",
] as const;
type Kind = (typeof KINDS)[number];
interface Step {
  readonly kind: Kind;
  readonly pick: number;
}

type World = ReturnType<typeof createModelWorld>;

function perform(world: World, step: Step): void {
  takeStep(world, step, (kind, pick) => {
    const { thread, pages } = world;
    const page = pages[pick % pages.length];
    if (!page) return;
    switch (kind) {
      case "trim":
        thread.trim();
        break;
      case "poll":
        void page.line().poll();
        break;
      case "reload":
        page.reload();
        break;
      case "hand-over":
        page.handOver();
        break;
      case "yield":
        page.yield();
        break;
      case "close-page":
        page.close();
        break;
      case "open-page":
        page.reopen();
        break;
      case "offline":
      case "online":
        page.setOnline(kind === "online");
        break;
      default:
        page.submit(kind);
        break;
    }
  });
}

async function calm(world: World): Promise<void> {
  for (const page of world.pages) {
    page.reopen();
    page.setOnline(true);
  }
  await calmDown(world, () => world.pages.every(isQuiet));
}

function isQuiet({ line, submitted }: ModelPage): boolean {
  const { sync, running, preempting } = line().pending();
  return !sync && !running && !preempting && submitted.every(({ outcome }) => outcome);
}

/** What became of the newest wish, wherever it was last asked for. */
function latestSync({ submitted }: ModelPage) {
  const syncs = submitted.filter(({ command }) => command.kind === "sync");
  const newest = syncs
    .map(({ command }) => command.id)
    .toSorted()
    .at(-1);
  return syncs.findLast(({ command }) => command.id === newest);
}

function shownBy(view: ThreadView) {
  return {
    messages: currentMessages(view)
      .filter(({ local }) => local === undefined)
      .map(({ id, content }) => ({ id, content })),
    state: view.state,
    isRunning: view.run?.status === "running",
  };
}

function check({ thread, pages, breaches }: World): void {
  expect(breaches).toEqual([]);
  expect([...thread.applied.values()].filter((times) => times !== 1)).toEqual([]);
  for (const page of pages) {
    const { line, submitted } = page;
    const unresolved = submitted
      .filter(({ outcome }) => outcome === undefined)
      .map(({ command }) => command.id);
    expect({ unresolved, pending: line().pending() }).toEqual({
      unresolved: [],
      pending: { sync: false, running: false, preempting: false, queue: [] },
    });
    expect(["live", "gap-repaired"]).toContain(line().status().kind);
    expect(shownBy(line().view())).toEqual({
      messages: thread.messages().map(({ id, content }) => ({ id, content })),
      state: thread.state(),
      isRunning: false,
    });
    expect(currentMessages(line().view()).filter(({ local }) => local === "sending")).toEqual([]);
    const latest = latestSync(page);
    if (!latest || thread.applied.has(latest.command.id)) continue;
    const { outcome } = latest;
    // Another client's, and later: it counts, and what is older must not undo it.
    if (outcome?.kind === "superseded") expect(isNewer(outcome.by, latest.command.id)).toBe(true);
    else expect(["busy", "refused", "unreachable", "unconfirmed"]).toContain(outcome?.kind);
  }
}

async function play(pages: number, steps: readonly Step[]): Promise<World> {
  const world = createModelWorld(pages);
  for (const step of steps) {
    perform(world, step);
    await breathe();
  }
  await calm(world);
  return world;
}

function script(kinds: readonly Kind[]) {
  const step = fc.record({ kind: fc.constantFrom(...kinds), pick: fc.nat(1_000) });
  return fc.array(step, { maxLength: 90, size: "max" });
}

const options = { numRuns: RUNS };

describe("races", () => {
  it("whatever happens in whatever order, nothing is lost, doubled, or left hanging", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 }), script(KINDS), async (pages, steps) => {
        check(await play(pages, steps));
      }),
      options,
    );
  });

  it("where nothing is lost and nobody stops anything, the latest sync is confirmed", async () => {
    const kind: readonly Kind[] = [
      "arrive",
      "arrive",
      "arrive",
      "time",
      "go-on",
      "elsewhere",
      "sync",
      "cut",
      "queue",
    ];
    await fc.assert(
      fc.asyncProperty(script(kind), async (steps) => {
        const world = await play(1, steps);
        check(world);
        const [page] = world.pages;
        const latest = page && latestSync(page);
        if (latest) expect(["confirmed", "busy"]).toContain(latest.outcome?.kind);
      }),
      { ...options, numRuns: Math.ceil(RUNS / 3) },
    );
  });
});
