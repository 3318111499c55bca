import { z } from "zod";
import { type Command, commandSchema } from "./command.js";
import { lifecycleSchema, type SentinelStateValue, settingsSchema } from "./sentinel-state.js";

/**
 * A command with the part of the state it works on. It travels to its node in a `Send`, which LangGraph keeps in the
 * checkpoint's task queue and nowhere in the state: a run that is taken up after a crash still knows its command.
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
