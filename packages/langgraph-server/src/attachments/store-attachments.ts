import { type ContentPart, type Message, ThroughlineError } from "@throughline/ai-core";
import type { ThreadRef } from "@throughline/thread-log";
import type { RunInput } from "../thread/run-input.js";
import {
  type AttachmentLimits,
  acceptType,
  attachmentId,
  checkSize,
  checkThreadSize,
} from "./attachment-limits.js";
import type { Attachment, AttachmentStore } from "./attachment-store.js";
import { filenameOf, inlineBytes, referencedId, referenceTo } from "./media-block.js";

export interface AttachmentGate {
  readonly store: AttachmentStore;
  readonly limits: AttachmentLimits;
}

/** The input with its inline files stored: from here on there are addresses and no bytes. */
export async function storeAttachments(
  input: RunInput,
  thread: ThreadRef,
  gate: AttachmentGate,
): Promise<RunInput> {
  if (input.kind !== "input" && input.kind !== "fork") return input;
  if (!input.messages.some(({ content }) => typeof content !== "string")) return input;
  const messages: Message[] = [];
  // One after the other, because each counts for the thread's limit.
  for (const [index, message] of input.messages.entries()) {
    const { content } = message;
    if (typeof content === "string") {
      messages.push(message);
      continue;
    }
    const parts: ContentPart[] = [];
    for (const [place, part] of content.entries()) {
      parts.push(await storedPart(part, thread, gate, `messages.${index}.content.${place}`));
    }
    messages.push({ ...message, content: parts });
  }
  return { ...input, messages };
}

async function storedPart(
  part: ContentPart,
  thread: ThreadRef,
  gate: AttachmentGate,
  field: string,
): Promise<ContentPart> {
  const named = referencedId(part);
  if (named !== undefined) {
    const found = await gate.store.find(thread, named);
    if (found) return referenceTo(found, filenameOf(part));
    throw new ThroughlineError("invalid_input", `${field}: this thread has no such attachment`, {
      details: { field },
    });
  }
  const inline = inlineBytes(part);
  if (!inline) return part;
  const filename = filenameOf(part);
  const content = decodeBase64(inline.data, field);
  const stored = await storeAttachment(
    thread,
    { content, declaredType: inline.mimeType, filename, field },
    gate,
  );
  return referenceTo(stored, filename);
}

export interface IncomingFile {
  readonly content: Uint8Array;
  readonly declaredType: string;
  readonly filename: string | undefined;
  /** What an error calls it. */
  readonly field: string;
}

/** Throws `invalid_input` for a type that can't be attached, `too_large` for what is too much of it. */
export async function storeAttachment(
  thread: ThreadRef,
  { content, declaredType, filename, field }: IncomingFile,
  { store, limits }: AttachmentGate,
): Promise<Attachment> {
  const type = acceptType(declaredType, field);
  checkSize(content.byteLength, type, limits, field);
  const id = attachmentId(type.mimeType, content);
  const there = await store.find(thread, id);
  if (there) return there;
  checkThreadSize((await store.heldBytes(thread)) + content.byteLength, limits, field);
  return store.put(thread, { id, mimeType: type.mimeType, filename, content });
}

/** Node's decoder skips what is no base64; a file that lost half its bytes would be stored as if it were whole. */
function decodeBase64(text: string, field: string): Uint8Array {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text) || text.replace(/=+$/, "").length % 4 === 1) {
    throw new ThroughlineError("invalid_input", `${field}: is not base64`, { details: { field } });
  }
  return Buffer.from(text, "base64");
}
