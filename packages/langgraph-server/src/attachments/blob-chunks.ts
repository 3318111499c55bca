import { ThroughlineError } from "@throughline/ai-core";
import { CHUNK_BYTES } from "./attachment-store.js";
import type { ChunkLane } from "./blobs.js";
import type { ByteRange } from "./byte-range.js";
import type { FilesDatabase } from "./uploads.js";

export interface BlobContext extends FilesDatabase {
  /** Account, subject, thread, and the id of the content, or of the attachment where its row holds it. */
  readonly key: readonly string[];
  readonly lane: ChunkLane;
}

const OF_CONTENT = "account = $1 and subject = $2 and thread_id = $3 and content_id = $4";
const OF_ATTACHMENT = "account = $1 and subject = $2 and thread_id = $3 and attachment_id = $4";

/** Reads a part of a content that is stored in chunks. One statement each, and none holds a connection while its reader is slow. */
export async function* storedChunks(
  { pool, schema, key, lane }: BlobContext,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  for (let part = Math.floor(start / CHUNK_BYTES); part * CHUNK_BYTES < end; part += 1) {
    const statement = `select content from ${schema}.attachment_chunks where ${OF_CONTENT} and part = $5`;
    const { rows } = await lane(() => pool.query<{ content: Buffer }>(statement, [...key, part]));
    const [row] = rows;
    if (!row) throw deleted();
    const offset = part * CHUNK_BYTES;
    yield row.content.subarray(Math.max(0, start - offset), end - offset);
  }
}

/** A part of a content that an earlier version wrote into its row: stored as it is, it is read in pieces, too. */
export async function* contentChunks(
  { pool, schema, key, lane }: BlobContext,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += CHUNK_BYTES) {
    const statement = `select substring(content from $5 for $6) as content from ${schema}.attachments where ${OF_ATTACHMENT}`;
    const values = [...key, at + 1, Math.min(CHUNK_BYTES, end - at)];
    const { rows } = await lane(() => pool.query<{ content: Buffer | null }>(statement, values));
    const content = rows[0]?.content;
    if (!content) throw deleted();
    yield content;
  }
}

function deleted(): ThroughlineError {
  return new ThroughlineError("not_found", "The attachment was deleted while it was read.");
}
