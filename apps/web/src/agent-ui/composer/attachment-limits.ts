"use client";

import { newId } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { uploadAttachment } from "../../data/thread";
import type { StoredFile } from "./drafts";

type AttachmentKind = "image" | "audio" | "video" | "document";

const MB = 1_048_576;

/** File types and sizes that the service accepts, checked before an upload. The service decides in the end. */
const LIMITS: Readonly<
  Record<AttachmentKind, { readonly types: readonly string[]; readonly bytes: number }>
> = {
  image: { types: ["png", "jpeg", "jpg", "gif", "webp"].map((name) => `image/${name}`), bytes: 10 * MB },
  audio: {
    // Browsers use several names for some types; the service accepts these.
    types: ["wav", "x-wav", "wave", "mp3", "mpeg", "mp4", "m4a", "x-m4a", "aac", "ogg", "webm", "flac"].map(
      (name) => `audio/${name}`,
    ),
    bytes: 25 * MB,
  },
  video: { types: ["mp4", "webm", "mpeg", "quicktime"].map((name) => `video/${name}`), bytes: 50 * MB },
  document: {
    types: [
      "application/pdf",
      "text/plain",
      "text/markdown",
      "text/csv",
      "application/json",
      ...["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
        (name) => `application/vnd.openxmlformats-officedocument.${name}`,
      ),
    ],
    bytes: 20 * MB,
  },
};

/** Types by file extension, for files that browsers give no type. */
const TYPE_OF_ENDING: Readonly<Record<string, string>> = {
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  txt: "text/plain",
  log: "text/plain",
  json: "application/json",
};

export const ACCEPTED = [
  ...Object.values(LIMITS).flatMap(({ types }) => types),
  ...Object.keys(TYPE_OF_ENDING).map((ending) => `.${ending}`),
].join(",");

type CheckedFile =
  | { readonly kind: AttachmentKind; readonly mimeType: string; readonly problem?: undefined }
  | { readonly problem: string };

export function checkFile({
  name,
  type,
  size,
}: {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}): CheckedFile {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const mimeType = type.split(";")[0] || TYPE_OF_ENDING[ending] || "";
  const found = (["image", "audio", "video", "document"] as const).find((kind) =>
    LIMITS[kind].types.includes(mimeType),
  );
  if (found === undefined) {
    return {
      problem: "This kind of file can't be attached. Pictures, sound, video, PDF, text and Office files can.",
    };
  }
  const { bytes } = LIMITS[found];
  if (size > bytes) return { problem: `Too large: at most ${bytes / MB} MB for ${WORDS[found]}.` };
  if (size === 0) return { problem: "This file is empty." };
  return { kind: found, mimeType };
}

const WORDS: Readonly<Record<AttachmentKind, string>> = {
  image: "a picture",
  audio: "sound",
  video: "a video",
  document: "a document",
};

export interface DraftFile extends StoredFile {
  readonly key: string;
  readonly state: "uploading" | "ready" | "failed";
  readonly problem?: string;
}

export interface Attachments {
  readonly files: readonly DraftFile[];
  readonly isUploading: boolean;
  add(files: Iterable<File>): void;
  remove(key: string): void;
  /** Inserts files of an older draft before the present ones. */
  restore(files: readonly StoredFile[]): void;
  /** Replaces all files. */
  replace(files: readonly StoredFile[]): void;
}

/** Files of the message being written. They are uploaded as soon as they are chosen, so that sending does not wait. */
export function useAttachments(): Attachments {
  const thread = useThreadHandle();
  const [files, setFiles] = useState<readonly DraftFile[]>([]);
  const uploads = useRef(new Map<string, AbortController>());

  // Unmounting cancels the uploads.
  useEffect(() => {
    const underway = uploads.current;
    return () => {
      for (const controller of underway.values()) controller.abort();
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
        const controller = new AbortController();
        uploads.current.set(key, controller);
        setFiles((before) => [...before, { key, name, state: "uploading" }]);
        uploadAttachment({ thread, file, mimeType: checked.mimeType, signal: controller.signal }).then(
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

  const restore = useCallback((stored: readonly StoredFile[]) => {
    setFiles((before) => [...stored.map(restored), ...before]);
  }, []);

  const replace = useCallback((stored: readonly StoredFile[]) => setFiles(stored.map(restored)), []);

  return {
    files,
    isUploading: files.some(({ state }) => state === "uploading"),
    add,
    remove,
    restore,
    replace,
  };
}

function restored(file: StoredFile): DraftFile {
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
