export { toAttachmentReference } from "./attachment-reference.js";
export { interruptContent } from "./interrupt-content.js";
export {
  asLoose,
  asString,
  isJsonObject,
  type Loose,
  read,
  readArray,
  readNumber,
  readString,
} from "./read.js";
export {
  type IncomingMessage,
  readMessage,
  toMessage,
  toMessages,
  toResultText,
  toToolCall,
} from "./read-message.js";
export { toPlain, toPlainObject } from "./to-plain.js";
