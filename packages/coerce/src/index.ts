export { toAttachmentReference } from "./attachment-reference.js";
export { classifyError } from "./classify-error.js";
export { interruptContent } from "./interrupt-content.js";
export { type InlineBytes, type Media, type MediaKind, type MediaSource, readMedia } from "./media.js";
export { storedPart, unstoredPart } from "./media-part.js";
export {
  asRecord,
  asString,
  isJsonObject,
  read,
  readArray,
  readNumber,
  readString,
  type UnknownRecord,
} from "./read.js";
export {
  type IncomingMessage,
  readFinishReason,
  readMessage,
  resultContent,
  shownContent,
  textOfPart,
  toMessage,
  toMessages,
  toResultContent,
  toToolCall,
} from "./read-message.js";
export { type InlineMedia, replaceMedia } from "./replace-media.js";
export { toPlain, toPlainObject, toPlainWithin } from "./to-plain.js";
export { createServerEventReader, readGraphItem } from "./upstream-chunk.js";
