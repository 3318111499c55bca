import { attachmentUrl, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import type { Attachment } from "../../attachments/attachment-store.js";
import { parseRange, wholeFile } from "../../attachments/byte-range.js";
import { FILE_LINKS, type LinkedFile } from "../../attachments/file-links.js";
import type { AttachmentGate } from "../../attachments/input-attachments.js";
import { ATTACHABLE_TYPES, acceptType, checkSize, servedType } from "../../attachments/media-types.js";
import { receiveFile } from "../../attachments/receive-file.js";
import { requestBytes, sendFile } from "../file-transfer.js";
import { type App, errorResponse, parseQuery, type RouteContext } from "../request.js";
import { threadOf } from "../request-scope.js";
import type { ActionRoute, OpenRoute } from "../route.js";

const ATTACHMENTS = "/agents/:agentId/threads/:threadName/attachments";

const uploadQuerySchema = z.object({
  filename: z
    .string()
    .min(1)
    .max(255)
    .refine((name) => !/[\p{Cc}/\\]/u.test(name), "must be a name, not a path")
    .optional(),
});

const readHeadersSchema = z.object({
  range: z
    .string()
    .optional()
    .describe("One part of the file: `bytes=0-1023`, `bytes=1024-` or `bytes=-1024`."),
  "if-none-match": z.string().optional().describe("The `etag` of a copy: 304 where it is still the file."),
});

const FILE_ALTERNATIVES = [
  { status: 206, description: "The part that `range` asks for", contentType: "*/*" },
  { status: 304, description: "The file is the one that `if-none-match` names" },
  { status: 416, description: "The file has no such part", code: "invalid_input" },
] as const;

export const shownAttachmentSchema = z.object({
  id: z.string(),
  url: z.string().describe("What a message names it by."),
  mimeType: z.string(),
  filename: z.string().nullable(),
  bytes: z.number().int(),
  createdAt: z.iso.datetime(),
});

/** Routes for a thread's files: uploaded before a message references them, and read by the people whose thread it is. */
export function attachmentRoutes(
  parts: App<{ readonly attachments: AttachmentGate }>,
): readonly (ActionRoute | OpenRoute)[] {
  const { attachments } = parts.service;

  const upload: ActionRoute = {
    method: "POST",
    path: ATTACHMENTS,
    action: "upload",
    doc: {
      summary: "Upload a file to a thread",
      description:
        "The body is the file and `content-type` says what it is. Name the answer's `url` in a message's part: what no message names within a day is deleted.",
      tag: "attachments",
      query: uploadQuerySchema,
      file: ATTACHABLE_TYPES,
      response: { status: 201, description: "The attachment", schema: shownAttachmentSchema },
      errors: ["invalid_input", "not_found", "too_large", "rate_limited"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      const { filename } = parseQuery(c, uploadQuerySchema);
      const type = acceptType(c.req.header("content-type") ?? "", "content-type");
      const length = c.req.header("content-length");
      const declaredBytes = length === undefined ? undefined : Number(length);
      checkSize(declaredBytes ?? 0, type, attachments.limits, "body");
      const account = who.caller.billingAccountId;
      // Authentication has charged only a declared length within the body limit, and a file may be larger than a body.
      const isSpent = declaredBytes !== undefined && declaredBytes <= who.limits.maxBodyBytes;
      const fileLimits = { ...who.limits, maxBodyBytes: Number.MAX_SAFE_INTEGER };
      const permit = await attachments.transfers.take(account);
      try {
        const stored = await receiveFile(
          thread.ref,
          {
            content: requestBytes(c, parts.clock),
            declaredBytes,
            type,
            isChecked: true,
            filename,
            isNamed: false,
            field: "body",
            admit: (bytes) => (isSpent ? undefined : parts.usage.body(account, fileLimits, bytes)),
          },
          attachments,
        );
        return c.json(showAttachment(stored), 201);
      } finally {
        permit.leave();
      }
    },
  };

  const read: ActionRoute = {
    method: "GET",
    path: `${ATTACHMENTS}/:id`,
    action: "read",
    doc: {
      summary: "Read a file of a thread",
      tag: "attachments",
      headers: readHeadersSchema,
      response: { status: 200, description: "The file", contentType: "*/*" },
      alternatives: FILE_ALTERNATIVES,
      errors: ["invalid_input", "not_found", "rate_limited"],
    },
    async handle(c, who) {
      const thread = await threadOf(c, parts, who);
      return send(c, { thread: thread.ref, id: c.req.param("id") ?? "" }, "same-origin");
    },
  };

  const readByLink: OpenRoute = {
    method: "GET",
    path: `${FILE_LINKS}/:token`,
    isOpen: true,
    doc: {
      summary: "Read a file by a link",
      description:
        "For clients that can't send a token with an image: the links in messages of AG-UI streams. A link is valid for one to two hours and lets anyone who has it read the file.",
      tag: "attachments",
      headers: readHeadersSchema,
      response: { status: 200, description: "The file", contentType: "*/*" },
      alternatives: FILE_ALTERNATIVES,
      errors: ["invalid_input", "not_found", "rate_limited"],
    },
    async handle(c) {
      const file = attachments.links.read(c.req.param("token") ?? "");
      if (!file)
        throw new ThroughlineError(
          "not_found",
          "The link is not valid, or no longer. Read the thread again.",
        );
      return send(c, file, "cross-origin");
    },
  };
  return [upload, read, readByLink];

  /** Sends a file. `readers` are the pages that may show it. */
  async function send(c: RouteContext, { thread, id }: LinkedFile, readers: Readers): Promise<Response> {
    // A message may name a file that is still on its way into the store.
    await attachments.keeper.underWay(thread, id);
    const opened = await attachments.store.open(thread, id);
    if (!opened) throw new ThroughlineError("not_found", "There is no such attachment.");
    const { attachment } = opened;
    const { bytes } = attachment;
    const etag = `"${attachment.id}"`;
    const headers = fileHeaders(attachment, readers);
    if (isNamed(etag, c.req.header("if-none-match"))) return c.body(null, 304, headers);
    const ifRange = c.req.header("if-range");
    const range =
      ifRange === undefined || ifRange === etag ? parseRange(c.req.header("range"), bytes) : undefined;
    if (range === "unsatisfiable") return refuseRange(c, bytes);
    const { start, end } = range ?? wholeFile(bytes);
    const sent = {
      ...headers,
      "content-type": servedType(attachment.mimeType),
      "content-length": String(end - start),
      ...(range && { "content-range": `bytes ${start}-${end - 1}/${bytes}` }),
    };
    const status = range ? 206 : 200;
    // Hono answers HEAD with this handler and drops the body unread.
    if (c.req.method === "HEAD") return c.body(null, status, sent);
    const permit = await attachments.transfers.take(thread.account);
    const body = sendFile(c, opened.read({ start, end }), { clock: parts.clock, onEnd: permit.leave });
    return c.body(body, status, sent);
  }
}

type Readers = "same-origin" | "cross-origin";

function isNamed(etag: string, ifNoneMatch: string | undefined): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}

function refuseRange(c: RouteContext, bytes: number): Response {
  c.header("content-range", `bytes */${bytes}`);
  const message = `range: the file has ${bytes} bytes. Ask for a part of these.`;
  return errorResponse(
    c,
    new ThroughlineError("invalid_input", message, { details: { field: "range" } }),
    416,
  );
}

/**
 * Headers for a file as untrusted content: a browser does not sniff it, runs nothing of it, lets it reach nothing,
 * and saves whatever it would not merely show.
 */
function fileHeaders(
  { id, mimeType, filename }: Attachment,
  readers: Readers,
): Readonly<Record<string, string>> {
  const isShown = /^(?:image|audio|video)\//.test(servedType(mimeType));
  const name = filename === undefined ? "" : `; filename*=UTF-8''${encodeName(filename)}`;
  return {
    "content-disposition": `${isShown ? "inline" : "attachment"}${name}`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": readers,
    // The id is derived from the content, so the content behind it never changes.
    "cache-control": "private, max-age=31536000, immutable",
    etag: `"${id}"`,
    "accept-ranges": "bytes",
  };
}

/** Encodes a name by RFC 8187: `encodeURIComponent` leaves characters that a header's value must escape. */
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
