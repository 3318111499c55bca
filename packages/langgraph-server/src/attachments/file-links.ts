import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "@throughline/ai-core";
import type { ThreadRef } from "@throughline/thread-log";
import { z } from "zod";

/** The path of links, below the service's own URL. */
export const FILE_LINKS = "/files";

/** An attachment of a thread. */
export interface LinkedFile {
  readonly thread: ThreadRef;
  readonly id: string;
}

/** Links to attachments for clients that can't send a token with an image: anyone who has one may read the file for a while. */
export interface FileLinks {
  /** `base`: the service's address as the client knows it. */
  linkTo(base: string, file: LinkedFile): string;
  /** The file of a link, while it is valid. */
  read(token: string): LinkedFile | undefined;
  /** The file of a URL, whether or not the link is still valid: enough to recognize a file that a client was given. */
  recognise(url: string): LinkedFile | undefined;
}

/** Links of one hour are the same, so that frames are, too; each is valid for one to two hours. */
const STEP_MS = 3_600_000;

const claimsSchema = z.tuple([z.string(), z.string().nullable(), z.string(), z.string(), z.number()]);

/** Without a secret links are valid on this instance only, and until it ends. */
export function createFileLinks({
  secret,
  clock,
}: {
  readonly secret?: string;
  readonly clock: Clock;
}): FileLinks {
  const key = secret ?? randomBytes(32);
  const sign = (claims: string) => createHmac("sha256", key).update(`file ${claims}`).digest("base64url");

  function parse(token: string) {
    const [claims = "", signature = ""] = token.split(".");
    const parsed = claimsSchema.safeParse(parseJson(Buffer.from(claims, "base64url").toString()));
    if (!parsed.success) return undefined;
    const [account, subject, threadId, id, validUntil] = parsed.data;
    const file: LinkedFile = { thread: { account, ...(subject !== null && { subject }), threadId }, id };
    return { file, validUntil, isOurs: isEqual(signature, sign(claims)) };
  }

  return {
    linkTo(base, { thread: { account, subject, threadId }, id }) {
      const validUntil = (Math.floor(clock.now() / STEP_MS) + 2) * STEP_MS;
      const claims = JSON.stringify([account, subject ?? null, threadId, id, validUntil]);
      const payload = Buffer.from(claims).toString("base64url");
      return `${base}${FILE_LINKS}/${payload}.${sign(payload)}`;
    },
    read(token) {
      const parsed = parse(token);
      return parsed?.isOurs && parsed.validUntil > clock.now() ? parsed.file : undefined;
    },
    recognise(url) {
      const [, token] = /^https?:\/\/[^/]+(?:\/[^?#]*)?\/files\/([\w-]+\.[\w-]+)$/.exec(url) ?? [];
      return token === undefined ? undefined : parse(token)?.file;
    },
  };
}

function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
