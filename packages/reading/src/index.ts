export { applyPatch } from "./delta/apply-patch.js";
export type { AgUiEvent, AgUiFrame, AgUiLine, InterruptForm } from "./faces/ag-ui/event.js";
export { type AgUiFace, type AgUiFaceOptions, createAgUiFace, WHOLE_ENTRY } from "./faces/ag-ui/face.js";
export { encodeFrameCursor, type FrameCursor, parseFrameCursor } from "./faces/ag-ui/frame-cursor.js";
export { snapshotMessages } from "./faces/ag-ui/messages.js";
export { type AiEventsFace, createAiEventsFace } from "./faces/ai-events.js";
export type { UiMessageChunk } from "./faces/ui-messages/chunk.js";
export { createUiMessageFace, type UiMessageFace } from "./faces/ui-messages/face.js";
export { type UiMessage, uiMessages } from "./faces/ui-messages/messages.js";
export { changeCalls } from "./fold/calls.js";
export { applyEntry, applyEnvelope, isKnownMessage, usageSoFar } from "./fold/fold.js";
export { callsByRun, type FoldCall, type KnownCalls } from "./fold/fold-call.js";
export { threadFoldPort } from "./fold/fold-port.js";
export {
  currentMessages,
  emptyFold,
  type FoldMessage,
  type FoldRun,
  isConversation,
  type ThreadFold,
} from "./fold/thread-fold.js";
