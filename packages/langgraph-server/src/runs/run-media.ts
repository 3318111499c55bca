import type { EmbeddedFile, GraphFinal, StorageRefusal, UpstreamChunk } from "@throughline/ai-core";
import { dropUnstored, extractFiles } from "@throughline/graph-executor";
import type { ThreadRef } from "@throughline/thread-log";
import type { GeneratedFiles } from "../attachments/receive-file.js";

export interface RunMediaOptions {
  readonly thread: ThreadRef;
  readonly keeper: GeneratedFiles;
  /** Called once for each file that is not stored. */
  readonly onRefused: (file: EmbeddedFile, why: string) => void;
  /** The store failed, and not because of the file. */
  readonly onFailed: (error: unknown) => void;
}

/** Files that a run's messages carry: stored on the way, so that addresses enter the log and bytes never do. */
export interface RunMedia {
  /** A chunk as it may be recorded. At once: files are named by their content, and stored meanwhile. */
  take<Chunk extends UpstreamChunk>(chunk: Chunk): Chunk;
  /** Stores files of a checkpoint. */
  keep(files: readonly EmbeddedFile[] | undefined): void;
  /** `undefined` while few files are on their way; else resolves when that is so again. */
  room(): Promise<unknown> | undefined;
  /** The run's end, when all files are stored or the run was abandoned; a text part replaces a file that may not be stored. */
  drain(final: GraphFinal, left: AbortSignal): Promise<GraphFinal>;
}

/** Files of one run that may be on their way into the store before its graph waits. */
const MAX_UNDER_WAY = 4;

/** Modes whose payload a translation does not show: whole states once more. */
const UNREAD_MODES: ReadonlySet<string> = new Set(["checkpoints"]);

export function createRunMedia({ thread, keeper, onRefused, onFailed }: RunMediaOptions): RunMedia {
  /** By id: why it is not stored, `undefined` for what is or is about to be. */
  const asked = new Map<string, StorageRefusal>();
  const underWay = new Set<Promise<unknown>>();
  const clean = new WeakSet<object>();

  function refuse(file: EmbeddedFile, why: string): void {
    asked.set(file.id, why);
    onRefused(file, why);
  }

  function keepOne(file: EmbeddedFile): void {
    if (asked.has(file.id)) return;
    const why = keeper.refusal(file);
    if (why !== undefined) {
      refuse(file, why);
      return;
    }
    asked.set(file.id, undefined);
    const keeping = keeper
      .keep(thread, file)
      .then((refusal) => {
        if (refusal !== undefined) refuse(file, refusal);
      }, onFailed)
      .finally(() => underWay.delete(keeping));
    underWay.add(keeping);
  }

  function refusal(file: EmbeddedFile): StorageRefusal {
    keepOne(file);
    return asked.get(file.id);
  }

  const isRefused = () => [...asked.values()].some((why) => why !== undefined);
  const inWords = <Value>(value: Value) => dropUnstored(value, (id) => asked.get(id));

  return {
    take(chunk) {
      if (UNREAD_MODES.has(chunk.mode) || isPlainToken(chunk)) return chunk;
      const { value: data } = extractFiles(chunk.data, { clean, refusal });
      return data === chunk.data ? chunk : { ...chunk, data };
    },
    keep(files = []) {
      for (const file of files) keepOne(file);
    },
    room: () => (underWay.size < MAX_UNDER_WAY ? undefined : Promise.race(underWay)),
    async drain({ files, ...final }, left) {
      for (const file of files ?? []) keepOne(file);
      const isLeft = new Promise((resolve) => left.addEventListener("abort", resolve, { once: true }));
      while (underWay.size > 0 && !left.aborted) await Promise.race([Promise.all(underWay), isLeft]);
      const { messages, state } = final;
      if (!isRefused()) return final;
      return {
        ...final,
        ...(messages && { messages: inWords(messages) }),
        ...(state && { state: inWords(state) }),
      };
    },
  };
}

/** Whether the chunk is a piece of a text message: no other recorded part of it could hold bytes. Most chunks are such. */
function isPlainToken({ mode, data }: UpstreamChunk): boolean {
  if ((mode !== "messages" && mode !== "messages-tuple") || !Array.isArray(data)) return false;
  const message: unknown = data[0];
  return (
    typeof message === "object" &&
    message !== null &&
    "content" in message &&
    typeof message.content === "string"
  );
}
