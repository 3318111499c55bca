import type { CallSite, DraftBuffer } from "../envelope-draft.js";
import type { CheckpointMessages } from "./checkpoint-messages.js";
import type { RunFailure } from "./failure.js";
import type { InterruptSet } from "./interrupt-set.js";
import type { ModelMessages } from "./model-messages.js";
import type { StateChanges } from "./state.js";
import type { TaskTree } from "./task-tree.js";
import type { ToolCalls } from "./tool-calls.js";

/** The translators of one run that a dialect reports to, each with one concern. */
export interface Translators {
  readonly sink: DraftBuffer;
  readonly root: CallSite;
  readonly tasks: TaskTree;
  readonly messages: ModelMessages;
  readonly conversation: CheckpointMessages;
  readonly tools: ToolCalls;
  readonly state: StateChanges;
  readonly interrupts: InterruptSet;
  readonly custom: (name: string, data: unknown, site: CallSite) => void;
  readonly failure: RunFailure;
}
