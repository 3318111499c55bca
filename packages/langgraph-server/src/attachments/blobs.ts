import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { copyFile, mkdir, open, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "@throughline/ai-core";
import type { ThreadRef } from "@throughline/thread-log";
import { untilElapsed } from "../operations/poller.js";
import { CHUNK_BYTES } from "./attachment-store.js";
import type { ByteRange } from "./byte-range.js";

/**
 * Files on disk, for those who want none in their database. Shared by all instances, as the database is. Which of them are
 * attachments only the database knows: a file is written under the name it keeps, and is one from the row's commit on.
 */
export interface AttachmentFolder {
  create(thread: ThreadRef, name: string): Promise<FileWriter>;
  /** `undefined` where there is no such file. Each chunk is read on demand. */
  read(
    thread: ThreadRef,
    name: string,
  ): Promise<((range: ByteRange) => AsyncIterable<Uint8Array>) | undefined>;
  copy(name: string, from: ThreadRef, to: ThreadRef): Promise<void>;
  delete(thread: ThreadRef, name: string): Promise<void>;
  deleteThread(thread: ThreadRef): Promise<void>;
  deleteAccount(account: string, subject: string | undefined): Promise<void>;
}

export interface FileWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when the file is on the disk. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** Laid out as accounts are, so that deleting one is deleting a folder, whatever a crash left in it. */
export function openAttachmentFolder(path: string): AttachmentFolder {
  const root = resolve(path);
  // An account's characters are safe in a path and a thread's id is a UUID; a subject may be anything.
  const accountFolder = (account: string) => join(root, accountName(account));
  const subjectFolder = (account: string, subject = "") =>
    join(accountFolder(account), subject === "" ? "shared" : hash(subject));
  const threadFolder = ({ account, subject, threadId }: ThreadRef) =>
    join(subjectFolder(account, subject), threadId);
  const makeFolder = (thread: ThreadRef) => mkdir(threadFolder(thread), { recursive: true, mode: 0o700 });

  return {
    async create(thread, name) {
      await makeFolder(thread);
      const file = await open(join(threadFolder(thread), name), "wx", 0o600);
      let isClosed = false;
      async function close(): Promise<void> {
        if (isClosed) return;
        isClosed = true;
        await file.close();
      }
      return {
        // `appendFile` continues until all of it is written, `write` may stop short.
        write: (chunk) => file.appendFile(chunk),
        async finish() {
          await file.sync();
          await close();
        },
        close,
      };
    },
    async read(thread, name) {
      const file = join(threadFolder(thread), name);
      const isThere = await stat(file).then(() => true, notMissing);
      if (!isThere) return undefined;
      return ({ start, end }) => createReadStream(file, { start, end: end - 1, highWaterMark: CHUNK_BYTES });
    },
    async copy(name, from, to) {
      await makeFolder(to);
      const target = join(threadFolder(to), name);
      await copyFile(join(threadFolder(from), name), target, constants.COPYFILE_FICLONE).catch(notMissing);
    },
    delete: (thread, name) => rm(join(threadFolder(thread), name), { force: true }),
    deleteThread: (thread) => rm(threadFolder(thread), { recursive: true, force: true }),
    deleteAccount: (account, subject) =>
      rm(subject === undefined ? accountFolder(account) : subjectFolder(account, subject), {
        recursive: true,
        force: true,
      }),
  };
}

/** Accounts differ by case where file systems may not; a dot is in no account. */
function accountName(account: string): string {
  const lower = account.toLowerCase();
  return lower === account ? account : `${lower}.${hash(account)}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function notMissing(error: unknown): false {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
  throw error;
}

/** Runs chunk statements of an instance one at a time. */
export type ChunkLane = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Longest pause after a write: the duration of a statement that was queued for long does not show how busy the database is. */
const LONGEST_PAUSE_MS = 250;

/**
 * Runs one chunk after the other, and pauses after each as long as it took. So files use half of one connection at the most,
 * and less of it the busier the database and the process are: streams have priority.
 */
export function createChunkLane({ clock = systemClock }: { readonly clock?: Clock } = {}): ChunkLane {
  let last: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = last;
    let leave = () => {};
    last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    const startedAt = clock.now();
    try {
      return await work();
    } finally {
      const restMs = Math.min(clock.now() - startedAt, LONGEST_PAUSE_MS);
      if (restMs <= 0) leave();
      else void untilElapsed(clock, restMs).then(leave);
    }
  };
}
