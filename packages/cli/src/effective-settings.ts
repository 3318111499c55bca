import type { EffectiveSettings, StartedWith } from "@throughline/langgraph-server/admin";
import type { CommandInput } from "./command.js";
import { readingSettings } from "./usage-error.js";

type Started = Pick<CommandInput, "terminal" | "flags" | "defaults">;

export function startedWith({ terminal, flags, defaults }: Started): StartedWith {
  const { env, cwd, output } = terminal;
  return { env, cwd, isAttended: output.isTTY === true, flags, defaults };
}

/** What `serve` uses, and other commands look at. A setting that can't be read is a mistake of the call. */
export async function effectiveSettings(input: Started): Promise<EffectiveSettings> {
  // Loaded when it is wanted: LangChain takes longer to import than most other commands take in all.
  const admin = await import("@throughline/langgraph-server/admin");
  return readingSettings(() => admin.effectiveSettings(startedWith(input)));
}
