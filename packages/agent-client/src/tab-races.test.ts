import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { isPending, noPendingCommands } from "./commands/agent-command-scheduler.js";
import { currentMessages } from "./projection/thread-view.js";
import { createModelBrowser, type ModelCommand, type ModelTab } from "./testing/model-browser.js";
import { breathe, calmDown, takeStep } from "./testing/move-world.js";

vi.setConfig({ testTimeout: 1_200_000 });

const RUNS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 300);

const COMMANDS: readonly ModelCommand[] = ["send", "queue", "sync", "sync", "fire", "stop"];
const KINDS = [
  "arrive",
  "arrive",
  "arrive",
  "arrive",
  "arrive",
  "lose",
  "beat",
  "time",
  "time",
  "go-on",
  "go-on",
  "elsewhere",
  "command",
  "command",
  "command",
  "close",
  "freeze",
  "thaw",
] as const;
/** In each schedule at least once. */
const ALWAYS = ["switch", "cut"] as const;

interface Step {
  readonly kind: (typeof KINDS)[number] | (typeof ALWAYS)[number];
  readonly pick: number;
}

type Model = ReturnType<typeof createModelBrowser>;

function perform(model: Model, step: Step): void {
  takeStep(model, step, (kind, pick) => {
    const { tabs, replaceTab } = model;
    const at = pick % tabs.length;
    switch (kind) {
      case "command":
        tabs[at]?.submit(COMMANDS[pick % COMMANDS.length] ?? "send");
        break;
      case "close":
        replaceTab(at);
        break;
      case "freeze":
      case "thaw":
        tabs[at]?.setFrozen(kind === "freeze");
        break;
      case "switch":
        for (const [n, one] of tabs.entries()) one.setHidden(n !== at);
    }
  });
}

async function calm(model: Model): Promise<void> {
  for (const [at, tab] of model.tabs.entries()) {
    tab.setFrozen(false);
    tab.setHidden(at !== 0);
  }
  await calmDown(model, () => model.tabs.every(isQuiet));
}

function isQuiet({ thread, outcomes }: ModelTab): boolean {
  const { pending, connection } = thread.getSnapshot();
  return (
    !isPending(pending) && connection.kind !== "reconnecting" && outcomes.every(({ outcome }) => outcome)
  );
}

function check({ thread, network, tabs, breaches }: Model): void {
  expect(breaches).toEqual([]);
  expect([...thread.applied.values()].filter((times) => times !== 1)).toEqual([]);
  expect(network.streams()).toBe(1);
  for (const { thread: shown, outcomes } of tabs) {
    const { view, connection, pending } = shown.getSnapshot();
    expect(outcomes.filter(({ outcome }) => outcome === undefined)).toEqual([]);
    expect(pending).toEqual(noPendingCommands);
    expect(["live", "gap-repaired"]).toContain(connection.kind);
    const messages = currentMessages(view).filter(({ local }) => local === undefined);
    expect(messages.map(({ id, content }) => ({ id, content }))).toEqual(
      thread.messages().map(({ id, content }) => ({ id, content })),
    );
    expect(view.state).toEqual(thread.state());
    expect(currentMessages(view).filter(({ local }) => local === "sending")).toEqual([]);
  }
}

const pick = fc.nat(1_000);
const anyStep = fc.record({ kind: fc.constantFrom(...KINDS, ...ALWAYS), pick });
const schedule = fc
  .tuple(
    fc.array(anyStep, { maxLength: 30, size: "max" }),
    fc.record({ kind: fc.constant(ALWAYS[0]), pick }),
    fc.array(anyStep, { maxLength: 30, size: "max" }),
    fc.record({ kind: fc.constant(ALWAYS[1]), pick }),
    fc.array(anyStep, { maxLength: 30, size: "max" }),
  )
  .map(([before, move, between, cut, after]): readonly Step[] => [
    ...before,
    move,
    ...between,
    cut,
    ...after,
  ]);

it("two tabs of a browser, whichever leads and whatever breaks, lose nothing, do nothing twice and show the same on one stream", async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (steps) => {
      const model = createModelBrowser();
      try {
        await breathe();
        for (const step of steps) {
          perform(model, step);
          await breathe();
        }
        await calm(model);
        check(model);
      } finally {
        model.close();
      }
    }),
    { numRuns: RUNS },
  );
});
