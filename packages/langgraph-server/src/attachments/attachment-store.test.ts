import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryDatabase, migrate, openPostgres, type ThreadRef } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMemoryAttachmentStore } from "../server/memory/memory-attachments.js";
import {
  ATTACHMENT_CHUNK_MIGRATION,
  SERVER_MIGRATIONS,
  SERVER_MIGRATIONS_RECORD,
} from "../server/migrations.js";
import { openMigratedDatabase } from "../testing/migrated-database.js";
import { openTestPostgres } from "../testing/test-postgres.js";
import { threadRefOf } from "../testing/thread-ref-of.js";
import { type AttachmentStore, CHUNK_BYTES } from "./attachment-store.js";
import { openAttachmentFolder } from "./blobs.js";
import type { ByteRange } from "./byte-range.js";
import { DEFAULT_ATTACHMENT_LIMITS, generatedType } from "./media-types.js";
import { createPostgresAttachmentStore } from "./postgres-attachment-store.js";
import { attachmentId, receiveFile } from "./receive-file.js";

interface Place {
  readonly store: AttachmentStore;
  /** Another instance's. */
  readonly other: AttachmentStore;
  /** Rows of contents, uploads and usage that name the account, where there are tables. */
  rowsOf(account: string): Promise<number>;
  /** The account's files on disk, where there are any. */
  files(account: string): Promise<readonly string[]>;
  /** Of accounts, where there are any. */
  folders(): Promise<readonly string[]>;
  close(): Promise<void>;
}

async function inMemory(): Promise<Place> {
  const database = createMemoryDatabase();
  return {
    store: createMemoryAttachmentStore(database),
    other: createMemoryAttachmentStore(database),
    rowsOf: async () => 0,
    files: async () => [],
    folders: async () => [],
    async close() {},
  };
}

interface PostgresPlace extends Place {
  deleteRows(table: string): Promise<void>;
}

async function inPostgres(folder?: string): Promise<PostgresPlace> {
  const { database, close } = await openMigratedDatabase();
  const openStore = () =>
    createPostgresAttachmentStore(database, folder === undefined ? undefined : openAttachmentFolder(folder));
  return {
    store: openStore(),
    other: openStore(),
    async rowsOf(account) {
      const tables = ["attachments", "attachment_chunks", "attachment_uploads", "attachment_usage"];
      const counts = tables.map((table) => `select 1 from ${database.schema}.${table} where account = $1`);
      return (await database.pool.query(counts.join(" union all "), [account])).rowCount ?? 0;
    },
    async deleteRows(table) {
      await database.pool.query(`delete from ${database.schema}.${table}`);
    },
    async files(account) {
      if (folder === undefined) return [];
      const found = await readdir(join(folder, account), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      return found.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    folders: async () => (folder === undefined ? [] : readdir(folder)),
    async close() {
      await close();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function inFolder(): Promise<Place> {
  return inPostgres(await mkdtemp(join(tmpdir(), "throughline-attachments-")));
}

describe.each([
  ["memory", inMemory],
  ["PostgreSQL", inPostgres],
  ["a folder", inFolder],
] as const)("Attachments in %s", (_, open) => {
  let account = "";
  beforeEach(() => {
    account = `acme-${Math.random().toString(36).slice(2)}`;
  });
  let place: Place;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.close());

  const thread = (threadId: string, subject?: string) => threadRefOf(account, threadId, subject);
  const limits = { ...DEFAULT_ATTACHMENT_LIMITS };
  const put = (ref: ThreadRef, text: string | Uint8Array, filename?: string, isNamed = true) =>
    receiveFile(
      ref,
      {
        content: [Buffer.from(text)],
        declaredBytes: undefined,
        type: generatedType("image/png"),
        isChecked: false,
        filename,
        isNamed,
        field: "body",
      },
      { store: place.store, limits },
    );
  async function read(ref: ThreadRef, id: string, range?: ByteRange): Promise<string | undefined> {
    const opened = await place.store.open(ref, id);
    if (!opened) return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of opened.read(range)) chunks.push(chunk);
    return Buffer.concat(chunks).toString("latin1");
  }

  it("are kept once per thread, under the name they first came with", async () => {
    const first = await put(thread("a"), "cat", "cat.png");
    expect(await put(thread("a"), "cat", "other.png")).toEqual(first);
    expect(await place.store.find(thread("a"), first.id)).toMatchObject({
      mimeType: "image/png",
      filename: "cat.png",
      bytes: 3,
    });
    expect(await read(thread("a"), first.id)).toBe("cat");
    expect(await place.store.heldBytes(thread("a"))).toBe(3);
    await put(thread("a"), "a dog");
    expect(await place.store.heldBytes(thread("a"))).toBe(8);
  });

  it("are of their type too: the same bytes as something else are another file", () => {
    const content = Buffer.from("cat");
    expect(attachmentId("image/png", content)).not.toBe(attachmentId("image/gif", content));
  });

  it("are found under their own thread, account and subject only", async () => {
    const { id } = await put(thread("a", "ann"), "cat");
    for (const other of [
      thread("a"),
      thread("a", "bob"),
      thread("b", "ann"),
      { ...thread("a", "ann"), account: "other" },
    ]) {
      expect(await place.store.find(other, id)).toBeUndefined();
      expect(await read(other, id)).toBeUndefined();
      expect(await place.store.heldBytes(other)).toBe(0);
    }
  });

  it("that were copied outlive the thread they came from, and go with their own", async () => {
    const { id } = await put(thread("a"), "a bird");
    await place.store.copyThread(thread("a"), thread("b"), limits);
    await place.store.copyThread(thread("nothing"), thread("c"), limits);
    await place.store.deleteThread(thread("a"));
    expect(await read(thread("a"), id)).toBeUndefined();
    expect(await read(thread("b"), id)).toBe("a bird");
    await place.store.deleteThread(thread("b"));
    expect(await place.store.find(thread("b"), id)).toBeUndefined();
    expect(await place.files(account)).toEqual([]);
    expect(await place.rowsOf(account)).toBe(0);
  });

  it("of accounts whose names differ by case only are apart, on every file system", async () => {
    const shouted = { ...thread("a"), account: account.toUpperCase() };
    const { id } = await put(thread("a"), "quiet");
    await put(shouted, "loud");
    const folders = await place.folders();
    expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(folders.length);
    await place.store.deleteAccount(shouted.account);
    expect(await read(thread("a"), id)).toBe("quiet");
  });

  it("go with their account, or with one subject of it", async () => {
    const shared = await put(thread("a"), "shared");
    const own = await put(thread("b", "ann"), "own");
    await place.store.deleteAccount(account, "ann");
    expect(await place.store.find(thread("b", "ann"), own.id)).toBeUndefined();
    expect(await place.store.find(thread("a"), shared.id)).toBeDefined();
    await place.store.deleteAccount(account);
    expect(await place.store.find(thread("a"), shared.id)).toBeUndefined();
    expect(await place.rowsOf(account)).toBe(0);
  });

  it("are read in part, over the borders of chunks", async () => {
    const content = Buffer.alloc(2 * CHUNK_BYTES + 1_000, "abcdefg");
    const { id, bytes } = await put(thread("a"), content);
    expect(bytes).toBe(content.length);
    for (const [start, end] of [
      [0, content.length],
      [0, 1],
      [CHUNK_BYTES - 2, CHUNK_BYTES + 3],
      [CHUNK_BYTES, 2 * CHUNK_BYTES],
      [content.length - 5, content.length],
    ] as const) {
      expect(await read(thread("a"), id, { start, end })).toBe(content.toString("latin1", start, end));
    }
    await place.store.deleteAccount(account);
  });

  it("stay within the caps of thread and account, however many come at once and on whichever instance", async () => {
    const caps = { maxAttachmentBytesPerThread: 50, maxAttachmentBytesPerAccount: 120 };
    const names = ["a", "b", "c", "d"];
    const uploads = await Promise.all(
      Array.from({ length: 40 }, (_unused, index) =>
        (index % 2 === 0 ? place.store : place.other).begin(thread(names[index % 4] ?? ""), caps),
      ),
    );
    const met = await Promise.all(uploads.map((upload) => upload.reserve(10)));
    // Twelve of ten bytes each are what the account may have, and five what a thread may.
    expect(met.filter((cap) => cap === undefined)).toHaveLength(12);
    expect(new Set(met)).toContain("maxAttachmentBytesPerAccount");
    await Promise.all(uploads.map((upload) => upload.abandon()));
    expect(await place.rowsOf(account)).toBe(0);
    const [first, second] = await Promise.all(
      ["e", "e"].map((name) => place.store.begin(thread(name), caps)),
    );
    expect(await first?.reserve(40)).toBeUndefined();
    expect(await second?.reserve(11)).toBe("maxAttachmentBytesPerThread");
    expect(await second?.reserve(10)).toBeUndefined();
    await Promise.all([first?.abandon(), second?.abandon()]);
  });

  it("count what a file has, not what was reserved for it, and nothing for one that is there already", async () => {
    const caps = { ...limits, maxAttachmentBytesPerAccount: 100 };
    for (let time = 0; time < 3; time += 1) {
      const upload = await place.store.begin(thread("a"), caps);
      expect(await upload.reserve(90)).toBeUndefined();
      await upload.write(Buffer.from("0123456789"));
      await upload.finish({ id: "same", mimeType: "image/png", filename: undefined, isNamed: true });
    }
    const last = await place.store.begin(thread("b"), caps);
    expect(await last.reserve(91)).toBe("maxAttachmentBytesPerAccount");
    expect(await last.reserve(90)).toBeUndefined();
    await last.abandon();
  });

  it("that no message names are swept after their time, and those that one names are not", async () => {
    const forgotten = await put(thread("a"), "forgotten", undefined, false);
    const named = await put(thread("a"), "named", undefined, false);
    const sent = await put(thread("a"), "sent along");
    const hour = 3_600_000;
    await place.store.sweep({ unnamedMs: hour, stalledMs: hour, orphanedMs: hour });
    expect(await place.store.name(thread("a"), named.id)).toEqual(named);
    expect(await place.store.name(thread("a"), named.id)).toEqual(named);
    expect(await place.store.find(thread("a"), forgotten.id)).toEqual(forgotten);
    // Everything is older than a time that has not come yet.
    const swept = await place.store.sweep({ unnamedMs: -hour, stalledMs: hour, orphanedMs: hour });
    expect(swept).toEqual({ unnamed: 1, unfinished: 0, orphaned: 0, stray: 0 });
    expect(await place.store.find(thread("a"), forgotten.id)).toBeUndefined();
    expect(await read(thread("a"), named.id)).toBe("named");
    expect(await read(thread("a"), sent.id)).toBe("sent along");
    expect(await place.store.name(thread("a"), forgotten.id)).toBeUndefined();
    await place.store.deleteAccount(account);
    expect(await place.rowsOf(account)).toBe(0);
  });

  it("that were never finished are swept, and their sender hears of it", async () => {
    const upload = await place.store.begin(thread("a"), limits);
    await upload.reserve(CHUNK_BYTES);
    await upload.write(Buffer.alloc(CHUNK_BYTES));
    const hour = 3_600_000;
    expect(await place.store.sweep({ unnamedMs: hour, stalledMs: hour, orphanedMs: hour })).toMatchObject({
      unfinished: 0,
    });
    expect(await place.store.sweep({ unnamedMs: hour, stalledMs: -hour, orphanedMs: hour })).toMatchObject({
      unfinished: 1,
    });
    expect(await place.files(account)).toEqual([]);
    expect(await place.rowsOf(account)).toBe(0);
    const file = { id: "late", mimeType: "image/png", filename: undefined, isNamed: true };
    await expect(upload.write(Buffer.alloc(1))).rejects.toMatchObject({ code: "conflict" });
    await expect(upload.finish(file)).rejects.toMatchObject({ code: "conflict" });
    expect(await place.rowsOf(account)).toBe(0);
  });

  it("that are on their way when their thread is deleted leave nothing behind", async () => {
    const upload = await place.store.begin(thread("a"), limits);
    await upload.reserve(2 * CHUNK_BYTES);
    await upload.write(Buffer.alloc(CHUNK_BYTES));
    await place.store.deleteThread(thread("a"));
    await expect(upload.write(Buffer.alloc(CHUNK_BYTES))).rejects.toMatchObject({ code: "conflict" });
    await upload.abandon();
    expect(await place.files(account)).toEqual([]);
    expect(await place.rowsOf(account)).toBe(0);
  });
});

it("Attachments of threads that were deleted or never began are swept after their time, in PostgreSQL", async () => {
  const { database, close } = await openMigratedDatabase();
  const { pool, schema } = database;
  try {
    const store = createPostgresAttachmentStore(database, undefined);
    for (const threadId of ["there", "deleted", "never"]) {
      const upload = await store.begin({ account: "acme", threadId }, DEFAULT_ATTACHMENT_LIMITS);
      await upload.reserve(10);
      await upload.write(Buffer.alloc(10));
      await upload.finish({ id: "one", mimeType: "image/png", filename: undefined, isNamed: true });
      if (threadId === "never") continue;
      await pool.query(
        `insert into ${schema}.threads (account, subject, thread_id, epoch, fence, deleted) values ('acme', '', $1, 'e', 1, $2)`,
        [threadId, threadId === "deleted"],
      );
    }
    const hour = 3_600_000;
    const young = { unnamedMs: hour, stalledMs: hour, orphanedMs: hour };
    expect(await store.sweep(young)).toMatchObject({ orphaned: 0 });
    expect(await store.sweep({ ...young, orphanedMs: -hour })).toMatchObject({ orphaned: 2, stray: 0 });
    const left = await pool.query(`select thread_id from ${schema}.attachment_chunks`);
    expect(left.rows).toEqual([{ thread_id: "there" }]);
    const used = await pool.query(`select bytes from ${schema}.attachment_usage`);
    expect(used.rows).toEqual([{ bytes: "10" }]);
  } finally {
    await close();
  }
});

describe("A database of the version before", () => {
  it("has its files read, in parts, too, counted, and never swept", async () => {
    const postgres = await openTestPostgres();
    const database = await openPostgres({ connection: postgres.url });
    const { pool, schema } = database;
    try {
      const earlier = SERVER_MIGRATIONS.filter((migration) => migration !== ATTACHMENT_CHUNK_MIGRATION);
      await migrate(pool, schema, { record: SERVER_MIGRATIONS_RECORD, migrations: earlier });
      const content = Buffer.alloc(CHUNK_BYTES + 100, "old file ");
      const insert = `insert into ${schema}.attachments
        (account, subject, thread_id, attachment_id, mime_type, bytes, content) values ('acme', '', 'a', $1, 'image/png', $2, $3)`;
      await pool.query(insert, ["first", content.length, content]);
      await migrate(pool, schema, { record: SERVER_MIGRATIONS_RECORD, migrations: SERVER_MIGRATIONS });
      // Instances of the version before go on for a while.
      await pool.query(insert, ["second", content.length, content]);
      const store = createPostgresAttachmentStore(database, undefined);
      expect(await store.sweep({ unnamedMs: -3_600_000, stalledMs: 0, orphanedMs: 3_600_000 })).toEqual({
        unnamed: 0,
        unfinished: 0,
        orphaned: 0,
        stray: 0,
      });
      for (const id of ["first", "second"]) {
        const opened = await store.open({ account: "acme", threadId: "a" }, id);
        const chunks: Uint8Array[] = [];
        for await (const chunk of opened?.read({ start: 7, end: content.length }) ?? []) chunks.push(chunk);
        expect(Buffer.concat(chunks).equals(content.subarray(7))).toBe(true);
      }
      const used = await pool.query(`select bytes from ${schema}.attachment_usage where account = 'acme'`);
      expect(used.rows).toEqual([{ bytes: String(2 * content.length) }]);
    } finally {
      await database.close();
      await postgres.close();
    }
  });

  it("has chunks swept that a deletion by the version before left", async () => {
    const place = await inPostgres();
    try {
      const thread = { account: "acme", threadId: "a" };
      const upload = await place.store.begin(thread, DEFAULT_ATTACHMENT_LIMITS);
      await upload.reserve(10);
      await upload.write(Buffer.alloc(10));
      await upload.finish({ id: "one", mimeType: "image/png", filename: undefined, isNamed: true });
      await place.deleteRows("attachments");
      expect(
        await place.store.sweep({ unnamedMs: 1_000, stalledMs: 1_000, orphanedMs: 1_000 }),
      ).toMatchObject({ stray: 1 });
      expect(await place.rowsOf("acme")).toBe(0);
    } finally {
      await place.close();
    }
  });
});
