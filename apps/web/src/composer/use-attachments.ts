"use client";

import { newId } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { uploadAttachment } from "../service/queries/attachments";
import { checkFile } from "./attachment-limits";
import type { KeptFile } from "./draft-store";

export interface DraftFile extends KeptFile {
  readonly key: string;
  readonly state: "uploading" | "ready" | "failed";
  readonly problem?: string;
}

export interface Attachments {
  readonly files: readonly DraftFile[];
  readonly isUploading: boolean;
  add(files: Iterable<File>): void;
  remove(key: string): void;
  /** Puts files of an older draft before those that are there. */
  restore(files: readonly KeptFile[]): void;
  /** These and no others. */
  replace(files: readonly KeptFile[]): void;
}

/** Files of the message being written. They are sent on as soon as they are chosen, so that sending waits for nothing. */
export function useAttachments(): Attachments {
  const thread = useThreadHandle();
  const [files, setFiles] = useState<readonly DraftFile[]>([]);
  const uploads = useRef(new Map<string, AbortController>());

  // An upload whose page is gone is cancelled.
  useEffect(() => {
    const underway = uploads.current;
    return () => {
      for (const cut of underway.values()) cut.abort();
    };
  }, []);

  const change = useCallback((key: string, next: Partial<DraftFile>) => {
    uploads.current.delete(key);
    setFiles((before) => before.map((file) => (file.key === key ? { ...file, ...next } : file)));
  }, []);

  const add = useCallback(
    (chosen: Iterable<File>) => {
      for (const file of chosen) {
        const key = newId(Date.now());
        const { name } = file;
        const checked = checkFile(file);
        if (checked.problem !== undefined) {
          setFiles((before) => [...before, { key, name, state: "failed", problem: checked.problem }]);
          continue;
        }
        const cut = new AbortController();
        uploads.current.set(key, cut);
        setFiles((before) => [...before, { key, name, state: "uploading" }]);
        uploadAttachment({ thread, file, mimeType: checked.mimeType, signal: cut.signal }).then(
          ({ id, mimeType }) =>
            change(key, { state: "ready", part: { type: "binary", mimeType, id, filename: name } }),
          (error: unknown) =>
            change(key, { state: "failed", problem: error instanceof Error ? error.message : String(error) }),
        );
      }
    },
    [thread, change],
  );

  const remove = useCallback((key: string) => {
    uploads.current.get(key)?.abort();
    uploads.current.delete(key);
    setFiles((before) => before.filter((file) => file.key !== key));
  }, []);

  const restore = useCallback((kept: readonly KeptFile[]) => {
    setFiles((before) => [...kept.map(restored), ...before]);
  }, []);

  const replace = useCallback((kept: readonly KeptFile[]) => setFiles(kept.map(restored)), []);

  return {
    files,
    isUploading: files.some(({ state }) => state === "uploading"),
    add,
    remove,
    restore,
    replace,
  };
}

function restored(file: KeptFile): DraftFile {
  const key = newId(Date.now());
  return file.part
    ? { ...file, key, state: "ready" }
    : {
        ...file,
        key,
        state: "failed",
        problem: "This file was not kept when the page closed. Attach it again.",
      };
}
