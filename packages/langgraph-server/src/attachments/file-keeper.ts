import { type Clock, type FoundFile, type NotKept, retryStore, ThroughlineError } from "@throughline/ai-core";
import { type ThreadRef, threadKey } from "@throughline/thread-log";
import { checkSize, madeType } from "./attachment-limits.js";
import { type FileReceiver, receiveFile } from "./receive-file.js";

/** Stores the files that graphs make. */
export interface FileKeeper {
  /** Why a file may not be stored however much room there is. Known at once. */
  refusal(file: FoundFile): NotKept;
  /** Makes the file an attachment of the thread; one that it has, or that is on its way, is not stored again. */
  keep(thread: ThreadRef, file: FoundFile): Promise<NotKept>;
  /** Resolves when no such file is on its way into the store of this instance. */
  underWay(thread: ThreadRef, id: string): Promise<unknown>;
}

export interface FileKeeperDeps extends FileReceiver {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const FIELD = "file";

export function createFileKeeper({ store, limits, clock, signal }: FileKeeperDeps): FileKeeper {
  const underWay = new Map<string, Promise<NotKept>>();
  const keyOf = (thread: ThreadRef, id: string) => `${threadKey(thread)}|${id}`;

  function refusal(file: FoundFile): NotKept {
    return refusalOf(() => checkSize(file.bytes, madeType(file.mimeType), limits, FIELD));
  }

  async function storeFile(thread: ThreadRef, file: FoundFile): Promise<NotKept> {
    const { id, mimeType, filename, bytes } = file;
    const put = async () => {
      if (await store.name(thread, id)) return;
      await receiveFile(
        thread,
        {
          content: file.content(),
          declaredBytes: bytes,
          type: madeType(mimeType),
          isChecked: false,
          filename,
          isNamed: true,
          field: FIELD,
        },
        { store, limits },
      );
    };
    try {
      await retryStore({ clock, signal }, put);
      return undefined;
    } catch (error) {
      return whyNot(error);
    }
  }

  return {
    refusal,
    keep(thread, file) {
      const key = keyOf(thread, file.id);
      const known = underWay.get(key);
      if (known) return known;
      const why = refusal(file);
      if (why !== undefined) return Promise.resolve(why);
      const keeping = storeFile(thread, file).finally(() => underWay.delete(key));
      underWay.set(key, keeping);
      return keeping;
    },
    async underWay(thread, id) {
      await underWay.get(keyOf(thread, id))?.catch(() => {});
    },
  };
}

function refusalOf(check: () => void): NotKept {
  try {
    check();
    return undefined;
  } catch (error) {
    return whyNot(error);
  }
}

/** What a limit says, without the name of a field that no one sent. Throws what is no answer to the file. */
function whyNot(error: unknown): string {
  if (error instanceof ThroughlineError && (error.code === "too_large" || error.code === "conflict")) {
    return error.message.replace(`${FIELD}: `, "");
  }
  throw error;
}
