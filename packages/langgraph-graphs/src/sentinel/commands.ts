import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { invalidInput } from "@throughline/ai-core";
import { createModel } from "@throughline/langgraph-models";
import { z } from "zod";
import type { GraphDeps } from "../shared.js";
import { type Command, commandSchema } from "./command.js";
import { reportScript } from "./script.js";
import {
  type LogEntry,
  lifecycleSchema,
  type Report,
  type SentinelStateValue,
  type SentinelUpdate,
  settingsPatchSchema,
  settingsSchema,
} from "./sentinel-state.js";

/**
 * A command with the part of the state it works on. It travels to its node in a `Send`, which LangGraph stores in the
 * checkpoint's task queue and nowhere in the state: a run that is recovered after a crash still knows its command.
 * Its fields lie flat because LangGraph strips keys named like an untracked channel, `command`, from stored sends.
 */
export const commandTaskSchema = commandSchema.extend({
  lifecycle: lifecycleSchema,
  settings: settingsSchema,
  cycleCount: z.number().int(),
  lastAppliedClientMutationId: z.string().nullable(),
});
export type CommandTask = z.infer<typeof commandTaskSchema>;

export function commandTask(command: Command, state: SentinelStateValue): CommandTask {
  const { lifecycle, settings, cycleCount, lastAppliedClientMutationId } = state;
  return { ...command, lifecycle, settings, cycleCount, lastAppliedClientMutationId };
}

export function hire({ lifecycle, settings }: CommandTask): SentinelUpdate {
  if (lifecycle === "hired") return refused("hire", "already_hired", "Already hired.");
  return {
    lifecycle: "hired",
    cycleCount: 0,
    ...logged("hire", "done", `Watching ${settings.watch.join(", ") || "nothing yet"}.`),
  };
}

/**
 * Acknowledges new settings, which arrived with the run's input and are merged by now. It does so once: a client that missed the
 * ack sends the same mutation again.
 */
export function sync({
  clientMutationId,
  settings,
  lastAppliedClientMutationId,
}: CommandTask): SentinelUpdate {
  if (clientMutationId !== undefined && clientMutationId === lastAppliedClientMutationId) return {};
  const note = `Watching ${settings.watch.join(", ") || "nothing"} every ${settings.cycleSeconds} s.`;
  return {
    ...(clientMutationId === undefined ? {} : { lastAppliedClientMutationId: clientMutationId }),
    ...logged("sync", "done", note),
  };
}

export function fire({ lifecycle, cycleCount }: CommandTask): SentinelUpdate {
  if (lifecycle !== "hired") return refused("fire", "not_hired", "Not hired, so there is nothing to end.");
  return { lifecycle: "fired", ...logged("fire", "done", `Ended after ${cycleCount} cycles.`) };
}

function logged(command: string, outcome: LogEntry["outcome"], note: string): { log: LogEntry } {
  return { log: { command, outcome, note } };
}

function refused(command: string, code: NonNullable<LogEntry["code"]>, note: string): { log: LogEntry } {
  return { log: { command, outcome: "refused", note, code } };
}

const INSTRUCTIONS =
  "You watch a few things and report on them. Use only the readings you are given. Two sentences at most.";

const HINT_OF = { idle: "Not hired yet: send hire first.", fired: "Fired: send hire to start again." };

export interface Progress {
  readonly type: "progress";
  readonly step: number;
  readonly of: number;
  readonly note: string;
}

/** Creates the cycle: one reading of everything that is watched, with progress on the custom stream, and a report at the end. */
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
