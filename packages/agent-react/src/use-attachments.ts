import { newId, type RequestFailure, type UploadedFile } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useAccountFor, useHandleFor } from "./providers.js";

/** A file of the message being written. */
export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly state: "uploading" | "ready" | "failed";
  /** Why it failed. */
  readonly problem?: string;
  /** The part of a message that references it, once it is `ready`. */
  readonly part?: JsonObject;
}

export interface Attachments {
  readonly files: readonly Attachment[];
  readonly isUploading: boolean;
  /** Parts of the files that are ready, for a message's content. */
  readonly parts: readonly JsonObject[];
  add(files: Iterable<File>): void;
  /** Removes one; an upload under way is aborted. */
  remove(key: string): void;
  clear(): void;
}

/** Files of the message being written. Each is uploaded when it is added, so that sending never waits. */
export function useAttachments(): Attachments {
  const account = useAccountFor("useAttachments()");
  const thread = useHandleFor("useAttachments()");
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const uploads = useRef(new Map<string, AbortController>());

  const drop = useCallback((isDropped: (key: string) => boolean) => {
    for (const [key, cut] of uploads.current) {
      if (!isDropped(key)) continue;
      cut.abort();
      uploads.current.delete(key);
    }
    setFiles((before) => before.filter(({ key }) => !isDropped(key)));
  }, []);

  // A file belongs to the thread it was put into.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is undone is about the thread.
  useEffect(() => () => drop(() => true), [thread, drop]);

  const actions = useMemo(() => {
    async function upload(key: string, file: File, signal: AbortSignal): Promise<void> {
      const uploaded = await account.upload(thread, file, signal);
      if (signal.aborted) return;
      uploads.current.delete(key);
      const next = "kind" in uploaded ? failed(uploaded) : ready(file.name, uploaded);
      setFiles((before) => before.map((one) => (one.key === key ? { ...one, ...next } : one)));
    }

    return {
      add(chosen: Iterable<File>) {
        for (const file of chosen) {
          const key = newId(Date.now());
          const cut = new AbortController();
          uploads.current.set(key, cut);
          setFiles((before) => [...before, { key, name: file.name, state: "uploading" }]);
          void upload(key, file, cut.signal);
        }
      },
      remove: (key: string) => drop((one) => one === key),
      clear: () => drop(() => true),
    };
  }, [account, thread, drop]);

  return useMemo(
    () => ({
      files,
      isUploading: files.some(({ state }) => state === "uploading"),
      parts: files.flatMap(({ part }) => (part ? [part] : [])),
      ...actions,
    }),
    [files, actions],
  );
}

type Ended = Pick<Attachment, "state" | "problem" | "part">;

function ready(filename: string, { id, mimeType }: UploadedFile): Ended {
  return { state: "ready", part: { type: "binary", mimeType, id, filename } };
}

function failed(failure: RequestFailure): Ended {
  const problem = failure.kind === "refused" ? failure.message : "The service could not be reached.";
  return { state: "failed", problem };
}
