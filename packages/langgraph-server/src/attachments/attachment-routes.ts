import { attachmentUrl, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { queryOf } from "../http/checked-request.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { threadOf } from "../http/thread-of.js";
import { ATTACHABLE_TYPES, acceptType, checkSize } from "./attachment-limits.js";
import type { Attachment } from "./attachment-store.js";
import { type AttachmentGate, storeAttachment } from "./store-attachments.js";

const ATTACHMENTS = "/agents/:agentId/threads/:threadName/attachments";

const uploadQuerySchema = z.object({
  filename: z
    .string()
    .min(1)
    .max(255)
    .refine((name) => !/[\p{Cc}/\\]/u.test(name), "must be a name, not a path")
    .optional(),
});

export const shownAttachmentSchema = z.object({
  id: z.string(),
  url: z.string().describe("What a message names it by."),
  mimeType: z.string(),
  filename: z.string().nullable(),
  bytes: z.number().int(),
  createdAt: z.iso.datetime(),
});

/** Files of a thread: sent before a message that names them, and read back by whoever the thread belongs to. */
export function attachmentRoutes(parts: RouteParts<{ readonly attachments: AttachmentGate }>): ActionRoute[] {
  const { attachments } = parts.service;

  const upload: ActionRoute = {
    method: "POST",
    path: ATTACHMENTS,
    action: "upload",
    doc: {
      summary: "Upload a file to a thread",
      description:
        "The body is the file and `content-type` says what it is. Name the answer's `url` in a message's part.",
      tag: "attachments",
      query: uploadQuerySchema,
      file: ATTACHABLE_TYPES,
      answer: { status: 201, description: "The attachment", schema: shownAttachmentSchema },
      errors: ["invalid_input", "not_found", "too_large", "rate_limited"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { filename } = queryOf(c, uploadQuerySchema);
      const declaredType = c.req.header("content-type") ?? "";
      const type = acceptType(declaredType, "content-type");
      const check = (bytes: number) => checkSize(bytes, type, attachments.limits, "body");
      const length = c.req.header("content-length");
      const declared = length === undefined ? undefined : Number(length);
      check(declared ?? 0);
      const content = await readBytes(c.req.raw, check);
      // At the door only lengths that a body may have were counted, and a file may be larger than a body.
      if (declared === undefined || declared > who.limits.maxBodyBytes) {
        parts.usage.bodyRead(who.caller.billingAccountId, who.limits, content.byteLength);
      }
      const stored = await storeAttachment(
        thread.ref,
        { content, declaredType, filename, field: "body" },
        attachments,
      );
      return c.json(showAttachment(stored), 201);
    },
  };

  const read: ActionRoute = {
    method: "GET",
    path: `${ATTACHMENTS}/:id`,
    action: "read",
    doc: {
      summary: "Read a file of a thread",
      tag: "attachments",
      answer: { status: 200, description: "The file", contentType: "*/*" },
      errors: ["invalid_input", "not_found"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const id = c.req.param("id") ?? "";
      const found = await attachments.store.find(thread.ref, id);
      const content = found && (await attachments.store.read(thread.ref, id));
      if (!found || !content) throw new ThroughlineError("not_found", "There is no such attachment.");
      for (const [name, value] of Object.entries(fileHeaders(found))) c.header(name, value);
      return c.body(Uint8Array.from(content));
    },
  };
  return [upload, read];
}

/**
 * A file is somebody's own words for a browser: whatever it claims to be, it is not sniffed, runs nothing, reaches nothing,
 * and what a browser would not merely show is saved instead.
 */
function fileHeaders({ id, mimeType, filename, bytes }: Attachment): Readonly<Record<string, string>> {
  const isShown = /^(?:image|audio|video)\//.test(mimeType);
  const name = filename === undefined ? "" : `; filename*=UTF-8''${encodeName(filename)}`;
  return {
    "content-type": mimeType,
    "content-length": String(bytes),
    "content-disposition": `${isShown ? "inline" : "attachment"}${name}`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
    // The id is of the content, so what it names never changes.
    "cache-control": "private, max-age=31536000, immutable",
    etag: `"${id}"`,
  };
}

/** RFC 8187: what `encodeURIComponent` leaves is more than a header's value may hold bare. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function showAttachment(attachment: Attachment): z.output<typeof shownAttachmentSchema> {
  return {
    id: attachment.id,
    url: attachmentUrl(attachment.id),
    mimeType: attachment.mimeType,
    filename: attachment.filename ?? null,
    bytes: attachment.bytes,
    createdAt: new Date(attachment.createdAt).toISOString(),
  };
}

/** `check` throws when there are too many. */
async function readBytes(request: Request, check: (bytes: number) => void): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      check(size);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError("invalid_input", "body: ended before it was complete", {
      details: { field: "body" },
      cause: error,
    });
  }
  if (size === 0) {
    throw new ThroughlineError("invalid_input", "body: is empty; send the file itself", {
      details: { field: "body" },
    });
  }
  return Buffer.concat(chunks, size);
}
