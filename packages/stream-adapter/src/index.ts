export type { AgUiEvent, AgUiFrame, AgUiLine, InterruptForm } from "./faces/ag-ui/event.js";
export { type AgUiFace, type AgUiFaceOptions, createAgUiFace, WHOLE_ENTRY } from "./faces/ag-ui/face.js";
export { encodeFrameCursor, type FrameCursor, parseFrameCursor } from "./faces/ag-ui/frame-cursor.js";
export { type AiEventsFace, createAiEventsFace } from "./faces/ai-events.js";
export { compactEntries } from "./fold/compact-entries.js";
export { applyEntry } from "./fold/fold.js";
export { threadFoldPort } from "./fold/fold-port.js";
export { type FoldSource, rebuildFold } from "./fold/rebuild-fold.js";
export {
  currentMessages,
  emptyFold,
  type FoldMessage,
  type FoldRun,
  type ThreadFold,
} from "./fold/thread-fold.js";
export {
  createRunTranslator,
  type RunTranslator,
  type RunTranslatorOptions,
} from "./translate/run-translator.js";
export { visibleState } from "./translate/state-tracker.js";
