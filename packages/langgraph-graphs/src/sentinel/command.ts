import { ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

export const COMMAND_NAMES = ["hire", "cycle", "sync", "fire"] as const;

/** A command as it arrives. The name is any text here, so that `readCommand` can report what is wrong with it. */
export const sentCommandSchema = z.object({
  name: z.string(),
  clientMutationId: z.string().min(1).max(256).optional(),
  args: z.record(z.string(), z.unknown()).optional(),
});

export type SentCommand = z.infer<typeof sentCommandSchema>;

export const commandSchema = sentCommandSchema.extend({ name: z.enum(COMMAND_NAMES) });
export type Command = z.infer<typeof commandSchema>;

export function readCommand(sent: SentCommand): Command {
  const name = COMMAND_NAMES.find((known) => known === sent.name);
  if (name !== undefined) return { ...sent, name };
  throw new ThroughlineError(
    "invalid_input",
    `Unknown command "${sent.name}". Valid commands: ${COMMAND_NAMES.join(", ")}.`,
    { details: { field: "command.name", command: sent.name } },
  );
}
