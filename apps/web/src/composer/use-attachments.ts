"use client";

import { newId } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { useCallback, useRef, useState } from "react";
import { checkFile } from "./attachment-limits";
import { uploadAttachment } from "./upload-attachment";

export interface DraftFile {
  readonly key: string;
  readonly name: string;
  readonly state: "uploading" | "ready" | "failed";
  readonly problem?: string;
  /** What the message will say of it. */
  readonly part?: JsonObject;
}

export interface Attachments {
  readonly files: readonly DraftFile[];
  readonly isUploading: boolean;
  add(files: Iterable<File>): void;
  remove(key: string): void;
  /** The parts of those that arrived; the list is empty from then on. */
  take(): readonly JsonObject[];
}

/** Files of the message being written. They are sent on as soon as they are chosen, so that sending waits for nothing. */
export function useAttachments(): Attachments {
  const { agentId, threadId } = useThreadHandle();
  const [files, setFiles] = useState<readonly DraftFile[]>([]);
  const uploads = useRef(new Map<string, AbortController>());

  const change = useCallback((key: string, next: Partial<DraftFile>) => {
    setFiles((before) => before.map((file) => (file.key === key ? { ...file, ...next } : file)));
  }, []);

  const add = useCallback(
    (chosen: Iterable<File>) => {
      for (const file of chosen) {
        const key = newId(Date.now());
        const checked = checkFile(file);
        const draft = { key, name: file.name };
        if (checked.problem !== undefined) {
          setFiles((before) => [...before, { ...draft, state: "failed", problem: checked.problem }]);
          continue;
        }
        const cut = new AbortController();
        uploads.current.set(key, cut);
        setFiles((before) => [...before, { ...draft, state: "uploading" }]);
        uploadAttachment({ agentId, threadId, file, mimeType: checked.mimeType, signal: cut.signal }).then(
          ({ id, mimeType }) =>
            change(key, { state: "ready", part: { type: "binary", mimeType, id, filename: file.name } }),
          (error: unknown) =>
            change(key, { state: "failed", problem: error instanceof Error ? error.message : String(error) }),
        );
      }
    },
    [agentId, threadId, change],
  );

  const remove = useCallback((key: string) => {
    uploads.current.get(key)?.abort();
    uploads.current.delete(key);
    setFiles((before) => before.filter((file) => file.key !== key));
  }, []);

  return {
    files,
    isUploading: files.some(({ state }) => state === "uploading"),
    add,
    remove,
    take() {
      setFiles([]);
      return files.flatMap(({ part }) => (part ? [part] : []));
    },
  };
}
