import { createLogger } from "../operations/logging.js";
import { guardProcess } from "../server/guard-process.js";
import { type GuardedNews, type GuardedStep, guardedStepSchema } from "./guarded-news.js";

/** A process under the guard, in which a test makes things happen. */
const tell = (news: GuardedNews) => void process.send?.(news);
const ofRun = "of a run";
let settleHandOver: { resolve(): void; reject(error: Error): void } | undefined;

guardProcess({
  logger: createLogger({
    level: "info",
    destination: { write: (line: string) => tell({ log: JSON.parse(line) }) },
  }),
  strayError: (attributed) => tell({ attributed }),
  attribute: (error) => error instanceof Error && error.message === ofRun,
  handOver() {
    tell({ handingOver: true });
    return new Promise((resolve, reject) => {
      settleHandOver = { resolve, reject };
    });
  },
  handOverMs: Number(process.env.HAND_OVER_MS),
});

const throwLater = (message: string) =>
  setTimeout(() => {
    throw new Error(message);
  });

const PERFORM: Readonly<Record<GuardedStep, () => void>> = {
  "reject in a run": () => void Promise.reject(new Error(ofRun)),
  "throw in a run": () => void throwLater(ofRun),
  reject: () => void Promise.reject(new Error("of nothing")),
  throw: () => void throwLater("of nothing"),
  write: () => void process.stdout.write("to a reader that is gone\n", () => tell({ did: "write" })),
  "hand over": () => settleHandOver?.resolve(),
  "fail to hand over": () => settleHandOver?.reject(new Error("no store")),
  end: () => process.exit(0),
};

process.on("message", (step) => PERFORM[guardedStepSchema.parse(step)]());
