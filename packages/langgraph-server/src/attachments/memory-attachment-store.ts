import {
  admitInMemory,
  type MemoryDatabase,
  subjectKey,
  type ThreadRef,
  threadKey,
} from "@throughline/thread-log";
import type { Attachment, AttachmentStore } from "./attachment-store.js";

interface Held extends Attachment {
  readonly content: Uint8Array;
}

interface HeldThread {
  readonly thread: ThreadRef;
  readonly held: Map<string, Held>;
}

/** Instances that share a database share its attachments. */
const stores = new WeakMap<MemoryDatabase, Map<string, HeldThread>>();

/** All attachments of a database, without their contents. */
export function attachmentsInMemory(
  database: MemoryDatabase,
): readonly { readonly thread: ThreadRef; readonly attachment: Attachment }[] {
  return [...(stores.get(database)?.values() ?? [])].flatMap(({ thread, held }) =>
    [...held.values()].map((one) => ({ thread, attachment: toAttachment(one) })),
  );
}

export function createMemoryAttachmentStore(database: MemoryDatabase): AttachmentStore {
  const threads = stores.get(database) ?? new Map<string, HeldThread>();
  stores.set(database, threads);
  const heldOf = (thread: ThreadRef) => threads.get(threadKey(thread))?.held;

  function hold(thread: ThreadRef): Map<string, Held> {
    admitInMemory(database, thread);
    const held = heldOf(thread) ?? new Map<string, Held>();
    threads.set(threadKey(thread), { thread, held });
    return held;
  }

  return {
    async put(thread, { id, mimeType, filename, content }) {
      const held = hold(thread);
      const there = held.get(id);
      if (there) return toAttachment(there);
      const createdAt = database.clock.now();
      const made = { id, mimeType, filename, bytes: content.byteLength, createdAt, content };
      held.set(id, made);
      return toAttachment(made);
    },
    async find(thread, id) {
      const found = heldOf(thread)?.get(id);
      return found && toAttachment(found);
    },
    read: async (thread, id) => heldOf(thread)?.get(id)?.content,
    async heldBytes(thread) {
      return [...(heldOf(thread)?.values() ?? [])].reduce((sum, { bytes }) => sum + bytes, 0);
    },
    async copyThread(from, to) {
      const held = heldOf(from);
      if (!held) return;
      const copies = hold(to);
      for (const [id, one] of held) copies.set(id, one);
    },
    async deleteThread(thread) {
      const count = heldOf(thread)?.size ?? 0;
      threads.delete(threadKey(thread));
      return count;
    },
    async deleteAccount(account, subject) {
      let count = 0;
      for (const [key, { thread, held }] of threads) {
        if (thread.account === account && (subject === undefined || subjectKey(thread) === subject)) {
          threads.delete(key);
          count += held.size;
        }
      }
      return count;
    },
  };
}

function toAttachment({ content: _, ...attachment }: Held): Attachment {
  return attachment;
}
