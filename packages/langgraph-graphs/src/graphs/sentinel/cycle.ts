import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { invalidInput } from "@throughline/ai-core";
import { createModel } from "@throughline/langgraph-models";
import type { GraphDeps } from "../graph-definition.js";
import type { CommandTask } from "./command-task.js";
import { logged, refused } from "./lifecycle-commands.js";
import { reportScript } from "./script.js";
import { type Report, type SentinelUpdate, settingsPatchSchema } from "./sentinel-state.js";

const INSTRUCTIONS =
  "You watch a few things and report on them. Use only the readings you are given. Two sentences at most.";

const HINT_OF = { idle: "Not hired yet: send hire first.", fired: "Fired: send hire to start again." };

export interface Progress {
  readonly type: "progress";
  readonly step: number;
  readonly of: number;
  readonly note: string;
}

/** One look at everything that is watched, with progress on the custom stream, and a report at the end. */
export function createCycle(deps: GraphDeps) {
  return async (task: CommandTask, config: LangGraphRunnableConfig): Promise<SentinelUpdate> => {
    if (task.lifecycle !== "hired") return refused("cycle", "not_hired", HINT_OF[task.lifecycle]);
    const { watch } = task.settings;
    const steps = [...watch.map((name) => `Looking at ${name}`), "Writing the report"];
    const pauseMs = durationOf(task) / steps.length;
    for (const [index, note] of steps.entries()) {
      config.signal?.throwIfAborted();
      config.writer?.({ type: "progress", step: index + 1, of: steps.length, note } satisfies Progress);
      if (pauseMs > 0) await wait(pauseMs, undefined, config.signal ? { signal: config.signal } : {});
    }

    const cycle = task.cycleCount + 1;
    const readings = watch.map((name) => ({ name, value: sampleReading(name, cycle) }));
    const model = await createModel(config, { keys: deps.keys, offline: reportScript(cycle, readings) });
    const facts = readings.map(({ name, value }) => `${name}: ${value}`).join("\n") || "nothing is watched";
    const prompt = `Cycle ${cycle}. Readings from 0 (quiet) to 100 (loud):\n${facts}`;
    const message = await model.invoke([new SystemMessage(INSTRUCTIONS), new HumanMessage(prompt)], config);
    const report: Report = { cycle, readings, text: message.text };
    return {
      cycleCount: cycle,
      lastReport: report,
      messages: [message],
      ...logged("cycle", "done", `Cycle ${cycle} looked at ${readings.length} things.`),
    };
  };
}

function durationOf({ args: sent = {}, settings }: CommandTask): number {
  const args = settingsPatchSchema.pick({ durationMs: true }).safeParse(sent);
  if (!args.success) throw invalidInput(args.error, "command.args");
  return args.data.durationMs ?? settings.durationMs;
}

/** Nothing real is watched: a reading is a fixed function of its name and cycle, so that every run can be repeated. */
function sampleReading(name: string, cycle: number): number {
  return createHash("sha256").update(`${name}#${cycle}`).digest().readUInt16BE(0) % 101;
}
