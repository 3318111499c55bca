import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { partialCallLabelsSchema } from "@throughline/ai-core";
import { z } from "zod";
import { parseCost } from "../ledger/money.js";
import { claimedId, type FactBatch, type SpendFact, type SpendSource } from "./spend-log.js";

const READ_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

const positionSchema = z.object({ inode: z.string(), offset: z.number().int().nonnegative() });
type Position = z.infer<typeof positionSchema>;

const text = z.string().min(1);
const count = z.number().int().nonnegative().nullish().catch(0);
const lineSchema = z.object({
  v: z.literal(1),
  status: z.enum(["success", "failure"]),
  call_id: text,
  request_id: text.nullish(),
  unit_id: claimedId.nullish().catch(null),
  labels: partialCallLabelsSchema.catch({}),
  key_hash: text,
  spend: z.unknown(),
  input_tokens: count,
  output_tokens: count,
  cache_hit: z.boolean(),
  error_code: z.string().nullish(),
  model_group: z.string().nullish(),
  ended_at: z.number(),
});

/** Reads a line of `throughline_logger.py`; `undefined` for what is none. */
export function readLogLine(line: string): SpendFact | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { success, data } = lineSchema.safeParse(value);
  const spend = success ? parseCost(data.spend) : undefined;
  if (!success || spend === undefined) return undefined;
  return {
    callId: data.call_id,
    requestId: data.request_id ?? data.call_id,
    status: data.status,
    unitId: data.unit_id ?? null,
    labels: data.labels,
    keyHash: data.key_hash,
    spend,
    inputTokens: data.input_tokens ?? 0,
    outputTokens: data.output_tokens ?? 0,
    isCacheHit: data.cache_hit,
    errorCode: data.error_code ?? null,
    modelGroup: data.model_group || null,
    endedAt: Math.round(data.ended_at * 1000),
  };
}

/**
 * The file that `throughline_logger.py` writes. A position is an inode and an offset: a log that was rotated is read to its end
 * under its new name, if that begins with the old one, before the new file. A last line without its end is left for later.
 */
export function createJsonlSource(
  path: string,
  { onBadLine = () => {} }: { onBadLine?: () => void } = {},
): SpendSource {
  async function* readFile(file: string, inode: string, from: number): AsyncIterable<FactBatch> {
    const handle = await open(file, "r");
    try {
      let offset = from;
      let rest = Buffer.alloc(0);
      for (;;) {
        const { bytesRead, buffer } = await handle.read(
          Buffer.alloc(READ_BYTES),
          0,
          READ_BYTES,
          offset + rest.length,
        );
        if (bytesRead === 0) return;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = bytes.lastIndexOf(NEWLINE) + 1;
        rest = bytes.subarray(end);
        if (end === 0) continue;
        offset += end;
        const lines = bytes
          .subarray(0, end - 1)
          .toString()
          .split("\n");
        const facts = lines.flatMap((line) => {
          const fact = readLogLine(line);
          if (!fact) onBadLine();
          return fact ?? [];
        });
        yield { facts, position: JSON.stringify({ inode, offset } satisfies Position) };
      }
    } finally {
      await handle.close();
    }
  }

  return {
    name: "logger",
    async *read(position) {
      const last = position === undefined ? undefined : positionSchema.parse(JSON.parse(position));
      const current = await identify(path);
      if (current && last?.inode === current.inode) {
        // A file that was emptied in place starts again.
        yield* readFile(path, current.inode, last.offset <= current.size ? last.offset : 0);
        return;
      }
      const rotated = last && (await findRotated(path, last.inode));
      if (rotated) yield* readFile(rotated, last.inode, last.offset);
      if (current) yield* readFile(path, current.inode, 0);
    },
    async isComplete() {
      return (await identify(path)) !== undefined;
    },
  };
}

async function identify(path: string): Promise<{ inode: string; size: number } | undefined> {
  try {
    const { ino, size } = await stat(path, { bigint: true });
    return { inode: String(ino), size: Number(size) };
  } catch {
    return undefined;
  }
}

async function findRotated(path: string, inode: string): Promise<string | undefined> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((other) => other.startsWith(basename(path)))) {
    const file = join(folder, name);
    if ((await identify(file))?.inode === inode) return file;
  }
  return undefined;
}
