import { type ContentPart, type Message, ThroughlineError } from "@throughline/ai-core";
import { type ThreadRef, threadKey } from "@throughline/thread-log";
import type { RunInput } from "../threads/run-spec.js";
import type { FileLinks } from "./file-links.js";
import { acceptType, checkSize, filenameOf, inlineBytes, referencedId, referenceTo } from "./media-types.js";
import { type MediaOrigins, urlOf } from "./media-urls.js";
import { attachmentId, type FileReceiver, type GeneratedFiles, receiveFile } from "./receive-file.js";
import type { TransferPermits } from "./transfer-permits.js";

/** Checks, limits and stores that uploads and downloads of files pass through. */
export interface AttachmentGate extends FileReceiver {
  readonly transfers: TransferPermits;
  readonly keeper: GeneratedFiles;
  /** Allowed origins of media that a message names by URL. */
  readonly mediaOrigins: MediaOrigins;
  readonly links: FileLinks;
}

export interface InputGate extends FileReceiver {
  readonly links: Pick<FileLinks, "recognise">;
}

/** The input with its inline files stored: from here on there are addresses and no bytes. */
export async function storeInputAttachments(
  input: RunInput,
  thread: ThreadRef,
  gate: InputGate,
): Promise<RunInput> {
  if (input.kind !== "input" && input.kind !== "fork") return input;
  if (!input.messages.some(({ content }) => typeof content !== "string")) return input;
  const messages: Message[] = [];
  for (const [index, message] of input.messages.entries()) {
    const { content } = message;
    if (typeof content === "string") {
      messages.push(message);
      continue;
    }
    const parts: ContentPart[] = [];
    // One after the other: files that are decoded all at once would be held all at once.
    for (const [partIndex, part] of content.entries()) {
      parts.push(await storedPart(part, thread, gate, `messages.${index}.content.${partIndex}`));
    }
    messages.push({ ...message, content: parts });
  }
  return { ...input, messages };
}

async function storedPart(
  part: ContentPart,
  thread: ThreadRef,
  gate: InputGate,
  field: string,
): Promise<ContentPart> {
  const named = referencedId(part) ?? linkedId(part, thread, gate);
  if (named !== undefined) {
    const found = await gate.store.name(thread, named);
    if (found) return referenceTo(found, filenameOf(part));
    throw new ThroughlineError("invalid_input", `${field}: this thread has no such attachment`, {
      details: { field },
    });
  }
  const inline = inlineBytes(part);
  if (!inline) return part;
  const filename = filenameOf(part);
  const type = acceptType(inline.mimeType, field);
  const content = decodeBase64(inline.data, field);
  checkSize(content.byteLength, type, gate.limits, field);
  // Clients send the whole conversation each time: what is there is not written again.
  const there = await gate.store.name(thread, attachmentId(type.mimeType, content));
  const stored =
    there ??
    (await receiveFile(
      thread,
      {
        content: [content],
        declaredBytes: content.byteLength,
        type,
        isChecked: true,
        filename,
        isNamed: true,
        field,
      },
      gate,
    ));
  return referenceTo(stored, filename);
}

/** A client that was given a link may send it back. A link to another thread's file is a URL like any other. */
function linkedId(part: ContentPart, thread: ThreadRef, { links }: InputGate): string | undefined {
  const url = urlOf(part);
  const linked = url === undefined ? undefined : links.recognise(url);
  return linked && threadKey(linked.thread) === threadKey(thread) ? linked.id : undefined;
}

/** Node's decoder skips what is no base64; a file that lost half its bytes would be stored as if it were whole. */
function decodeBase64(text: string, field: string): Uint8Array {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text) || text.replace(/=+$/, "").length % 4 === 1) {
    throw new ThroughlineError("invalid_input", `${field}: is not base64`, { details: { field } });
  }
  return Buffer.from(text, "base64");
}
