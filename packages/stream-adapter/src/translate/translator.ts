import type { CallSite, DraftSink } from "../envelope-draft.js";
import type { CheckpointMessages } from "./checkpoint-messages.js";
import type { RunFailure } from "./failure.js";
import type { InterruptSet } from "./interrupt-set.js";
import type { MessageStream } from "./model-messages.js";
import type { StateTracker } from "./state.js";
import type { TaskTree } from "./task-tree.js";
import type { ToolRuns } from "./tool-calls.js";

/** What a dialect reports to: the parts of one run, each owning one concern. */
export interface RunParts {
  readonly sink: DraftSink;
  readonly root: CallSite;
  readonly tasks: TaskTree;
  readonly messages: MessageStream;
  readonly conversation: CheckpointMessages;
  readonly tools: ToolRuns;
  readonly state: StateTracker;
  readonly interrupts: InterruptSet;
  readonly custom: (name: string, data: unknown, site: CallSite) => void;
  readonly failure: RunFailure;
}
