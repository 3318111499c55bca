import { createHash, randomUUID } from "node:crypto";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { ThreadRef } from "@throughline/thread-log";

/** Files on disk, for those who want none in their database. Shared by all instances, as the database is. */
export interface AttachmentFolder {
  write(thread: ThreadRef, id: string, content: Uint8Array): Promise<void>;
  read(thread: ThreadRef, id: string): Promise<Uint8Array | undefined>;
  copyThread(from: ThreadRef, to: ThreadRef): Promise<void>;
  deleteThread(thread: ThreadRef): Promise<void>;
  deleteAccount(account: string, subject: string | undefined): Promise<void>;
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

  return {
    async write(thread, id, content) {
      const folder = threadFolder(thread);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const half = join(folder, `${HALF}${randomUUID()}`);
      await writeFile(half, content, { mode: 0o600 });
      await rename(half, join(folder, id));
    },
    async read(thread, id) {
      try {
        return await readFile(join(threadFolder(thread), id));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async copyThread(from, to) {
      try {
        await cp(threadFolder(from), threadFolder(to), {
          recursive: true,
          // One that is just being written gets its name in the middle of the copy, and would seem to be missing.
          filter: (path) => !isHalf(path),
        });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
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

const HALF = ".";

function isHalf(path: string): boolean {
  return basename(path).startsWith(HALF);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
