import type { CheckpointMessages } from "./checkpoint-messages.js";
import type { CallSite, DraftSink } from "./draft.js";
import type { InterruptSet } from "./interrupt-set.js";
import type { MessageStream } from "./message-stream.js";
import type { RunFailure } from "./run-failure.js";
import type { StateTracker } from "./state-tracker.js";
import type { TaskTree } from "./task-tree.js";
import type { ToolRuns } from "./tool-runs.js";

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
