import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryDatabase, migrate, openPostgres, type ThreadRef } from "@throughline/thread-log";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SERVER_MIGRATIONS, SERVER_MIGRATIONS_RECORD } from "../database/server-migrations.js";
import { openTestPostgres } from "../testing/test-postgres.js";
import { openAttachmentFolder } from "./attachment-folder.js";
import { attachmentId } from "./attachment-limits.js";
import type { AttachmentStore } from "./attachment-store.js";
import { createMemoryAttachmentStore } from "./memory-attachment-store.js";
import { createPostgresAttachmentStore } from "./postgres-attachment-store.js";

interface Place {
  readonly store: AttachmentStore;
  /** Files on disk, where there are any. */
  files(): Promise<readonly string[]>;
  /** Of accounts, where there are any. */
  folders(): Promise<readonly string[]>;
  close(): Promise<void>;
}

async function inMemory(): Promise<Place> {
  return {
    store: createMemoryAttachmentStore(createMemoryDatabase()),
    files: async () => [],
    folders: async () => [],
    async close() {},
  };
}

async function inPostgres(folder?: string): Promise<Place> {
  const postgres = await openTestPostgres();
  const database = await openPostgres({ connection: postgres.url });
  await migrate(database.pool, database.schema, {
    record: SERVER_MIGRATIONS_RECORD,
    migrations: SERVER_MIGRATIONS,
  });
  return {
    store: createPostgresAttachmentStore(
      database,
      folder === undefined ? undefined : openAttachmentFolder(folder),
    ),
    async files() {
      if (folder === undefined) return [];
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      return found.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    folders: async () => (folder === undefined ? [] : readdir(folder)),
    async close() {
      await database.close();
      await postgres.close();
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
  let place: Place;
  let account = "";
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.close());
  beforeEach(() => {
    account = `acme-${Math.random().toString(36).slice(2)}`;
  });

  const thread = (threadId: string, subject?: string): ThreadRef => ({
    account,
    ...(subject !== undefined && { subject }),
    threadId,
  });
  const png = (text: string, filename?: string) => {
    const content = Buffer.from(text);
    return { id: attachmentId("image/png", content), mimeType: "image/png", filename, content };
  };

  it("are kept once per thread, under the name they first came with", async () => {
    const first = await place.store.put(thread("a"), png("cat", "cat.png"));
    expect(await place.store.put(thread("a"), png("cat", "other.png"))).toEqual(first);
    expect(await place.store.find(thread("a"), first.id)).toMatchObject({
      mimeType: "image/png",
      filename: "cat.png",
      bytes: 3,
    });
    expect(Buffer.from((await place.store.read(thread("a"), first.id)) ?? "").toString()).toBe("cat");
    expect(await place.store.heldBytes(thread("a"))).toBe(3);
    await place.store.put(thread("a"), png("a dog"));
    expect(await place.store.heldBytes(thread("a"))).toBe(8);
  });

  it("are of their type too: the same bytes as something else are another file", () => {
    const content = Buffer.from("cat");
    expect(attachmentId("image/png", content)).not.toBe(attachmentId("image/gif", content));
  });

  it("are found under their own thread, account and subject only", async () => {
    const { id } = await place.store.put(thread("a", "ann"), png("cat"));
    for (const other of [
      thread("a"),
      thread("a", "bob"),
      thread("b", "ann"),
      { ...thread("a", "ann"), account: "other" },
    ]) {
      expect(await place.store.find(other, id)).toBeUndefined();
      expect(await place.store.read(other, id)).toBeUndefined();
      expect(await place.store.heldBytes(other)).toBe(0);
    }
  });

  it("that were copied outlive the thread they came from, and go with their own", async () => {
    const { id } = await place.store.put(thread("a"), png("a bird"));
    await place.store.copyThread(thread("a"), thread("b"));
    await place.store.copyThread(thread("nothing"), thread("c"));
    await place.store.deleteThread(thread("a"));
    expect(await place.store.read(thread("a"), id)).toBeUndefined();
    expect(Buffer.from((await place.store.read(thread("b"), id)) ?? "").toString()).toBe("a bird");
    await place.store.deleteThread(thread("b"));
    expect(await place.store.find(thread("b"), id)).toBeUndefined();
    expect(await place.files()).not.toContain(id);
  });

  it("of accounts whose names differ by case only are apart, on every file system", async () => {
    const shouted = { ...thread("a"), account: account.toUpperCase() };
    const { id } = await place.store.put(thread("a"), png("quiet"));
    await place.store.put(shouted, png("loud"));
    const folders = await place.folders();
    expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(folders.length);
    await place.store.deleteAccount(shouted.account);
    expect(Buffer.from((await place.store.read(thread("a"), id)) ?? "").toString()).toBe("quiet");
  });

  it("go with their account, or with one subject of it", async () => {
    const shared = await place.store.put(thread("a"), png("shared"));
    const own = await place.store.put(thread("b", "ann"), png("own"));
    await place.store.deleteAccount(account, "ann");
    expect(await place.store.find(thread("b", "ann"), own.id)).toBeUndefined();
    expect(await place.store.find(thread("a"), shared.id)).toBeDefined();
    await place.store.deleteAccount(account);
    expect(await place.store.find(thread("a"), shared.id)).toBeUndefined();
    for (const { id } of [shared, own]) expect(await place.files()).not.toContain(id);
  });
});
