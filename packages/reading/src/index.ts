export { applyPatch } from "./delta/apply-patch.js";
export type { AgUiEvent, AgUiFrame, AgUiVersion, InterruptForm } from "./faces/ag-ui/event.js";
export {
  type AgUiEncoder,
  type AgUiEncoderOptions,
  createAgUiEncoder,
  WHOLE_ENTRY,
} from "./faces/ag-ui/face.js";
export { encodeFrameCursor, type FrameCursor, parseFrameCursor } from "./faces/ag-ui/frame-cursor.js";
export { snapshotMessages } from "./faces/ag-ui/messages.js";
export { type AiEventsEncoder, createAiEventsEncoder } from "./faces/ai-events.js";
export type { UiMessageChunk } from "./faces/ui-messages/chunk.js";
export { createUiMessageEncoder, type UiMessageEncoder } from "./faces/ui-messages/face.js";
export { type UiMessage, uiMessages } from "./faces/ui-messages/messages.js";
export { updateCallTree } from "./fold/calls.js";
export { applyEntry, applyEnvelope, isKnownMessage, usageSoFar } from "./fold/fold.js";
export { type CallTree, callsByRun, type ProjectedCall } from "./fold/fold-call.js";
export { threadProjectionCodec } from "./fold/fold-port.js";
export {
  currentMessages,
  emptyThreadProjection,
  isConversation,
  type ProjectedMessage,
  type ProjectedRun,
  type ThreadProjection,
} from "./fold/thread-fold.js";
