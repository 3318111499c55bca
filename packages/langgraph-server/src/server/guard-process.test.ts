import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChildProgram, type ChildProgram, untilExit } from "../testing/child-program.js";
import { type GuardedNews, type GuardedStep, guardedNewsSchema } from "../testing/guarded-news.js";
import { RESTART_EXIT_CODE } from "./guard-process.js";

const ERROR = 50;
const FATAL = 60;

interface Guarded {
  readonly child: ChildProcess;
  readonly news: readonly GuardedNews[];
  readonly exit: Promise<NodeJS.Signals | number | null>;
  perform(step: GuardedStep): void;
  /** Resolves when the process has told so much. */
  told(count: number): Promise<void>;
}

describe("A guarded process", () => {
  let program: ChildProgram;
  beforeAll(async () => {
    program = await buildChildProgram(new URL("../testing/guarded-process.ts", import.meta.url));
  }, 60_000);
  afterAll(() => program.remove());

  function start(handOverMs = 60_000): Guarded {
    const child = program.start([], { HAND_OVER_MS: String(handOverMs) }, { stdout: "pipe" });
    const news: GuardedNews[] = [];
    child.on("message", (message) => void news.push(guardedNewsSchema.parse(message)));
    return {
      child,
      news,
      // What was told last may arrive behind the exit, and before the channel closes.
      exit: Promise.all([untilExit(child), once(child, "disconnect")]).then(([exit]) => exit),
      perform: (step) => void child.send(step),
      told: (count) => expect.poll(() => news.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count),
    };
  }
  const levels = ({ news }: Guarded) => news.flatMap((one) => ("log" in one ? [one.log.level] : []));
  const counted = ({ news }: Guarded) => news.flatMap((one) => ("attributed" in one ? [one.attributed] : []));
  const handsOver = ({ news }: Guarded) => news.filter((one) => "handingOver" in one).length;

  it("goes on after errors that belong to a run: a rejection, and an error thrown in a timer", async () => {
    const guarded = start();
    guarded.perform("reject in a run");
    guarded.perform("throw in a run");
    await guarded.told(4);
    guarded.perform("end");
    expect(await guarded.exit).toBe(0);
    expect(levels(guarded)).toEqual([ERROR, ERROR]);
    expect(counted(guarded)).toEqual([true, true]);
    expect(handsOver(guarded)).toBe(0);
  });

  it.each(["reject", "throw"] as const)(
    "hands over and asks to be restarted when an error belongs to no run: %s",
    async (step) => {
      const guarded = start();
      guarded.perform(step);
      await guarded.told(3);
      guarded.perform("hand over");
      expect(await guarded.exit).toBe(RESTART_EXIT_CODE);
      expect(levels(guarded)).toEqual([FATAL]);
      expect(counted(guarded)).toEqual([false]);
      expect(handsOver(guarded)).toBe(1);
    },
  );

  it.each(["throw", "fail to hand over"] as const)(
    "exits at once when a second error comes while it hands over: %s",
    async (step) => {
      const guarded = start();
      guarded.perform("reject");
      await guarded.told(3);
      guarded.perform("reject in a run");
      await guarded.told(5);
      guarded.perform(step);
      expect(await guarded.exit).toBe(RESTART_EXIT_CODE);
      expect(counted(guarded)).toEqual([false, true, false]);
      expect(handsOver(guarded)).toBe(1);
    },
  );

  it("does not wait for ever for its runs to be handed over", async () => {
    const guarded = start(100);
    guarded.perform("reject");
    expect(await guarded.exit).toBe(RESTART_EXIT_CODE);
  });

  it("goes on when the reader of its output is gone", async () => {
    const guarded = start();
    guarded.child.stdout?.destroy();
    guarded.perform("write");
    guarded.perform("write");
    await guarded.told(2);
    guarded.perform("end");
    expect(await guarded.exit).toBe(0);
    expect(guarded.news).toEqual([{ did: "write" }, { did: "write" }]);
  });
});
