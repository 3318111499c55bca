"use client";

import { type ThreadName, threadPath } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { segment } from "../../data/request";
import { Icon } from "../primitives/icon";
import { isJsonObject } from "../primitives/is-json-object";
import styles from "./attachments.module.css";

interface AttachedFilesProps {
  readonly files: readonly AttachedFile[];
  readonly thread: ThreadName;
}

/** Lists files: pictures as thumbnails, others by name. Both link to the file. */
export function AttachedFiles({ files, thread }: AttachedFilesProps): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className={styles.files} aria-label="Attachments">
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
        <li key={at}>
          <ShownFile
            name={file.filename ?? file.mimeType ?? file.kind}
            href={file.id === undefined ? file.url : attachmentPath(thread, file.id)}
            isPicture={file.kind === "image" && file.id !== undefined}
          />
        </li>
      ))}
    </ul>
  );
}

interface ShownFileProps {
  readonly name: string;
  readonly href: string | undefined;
  /** A picture in the service's store. Loading a URL that an agent names would disclose the reader to strangers. */
  readonly isPicture: boolean;
}

export function ShownFile({ name, href, isPicture }: ShownFileProps): ReactNode {
  return (
    <a className={styles.file} href={href} target="_blank" rel="noopener noreferrer">
      {isPicture ? (
        // biome-ignore lint/performance/noImgElement: behind the session's cookie, where no optimiser can go
        <img className={styles.image} src={href} alt={name} loading="lazy" />
      ) : (
        <>
          <Icon name="file" size={14} />
          <span className={styles.name}>{name}</span>
        </>
      )}
    </a>
  );
}

type Content = string | readonly JsonObject[];

interface AttachedFile {
  readonly kind: "image" | "audio" | "video" | "document";
  /** Id in the service's store; an external file has a `url` instead. */
  readonly id: string | undefined;
  readonly url: string | undefined;
  readonly mimeType: string | undefined;
  readonly filename: string | undefined;
}

const ATTACHMENT = "throughline:attachment/";
const KINDS = ["image", "audio", "video", "document"] as const;

export function contentFiles(content: Content): readonly AttachedFile[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "text" ? [] : [fileOf(part)]));
}

/** The id in the URL of an attachment. */
export function attachmentIdOf(url: string): string | undefined {
  return url.startsWith(ATTACHMENT) ? url.slice(ATTACHMENT.length) : undefined;
}

/** Files of the thread in a tool result. The protocol has only text for results, so files are written in it as Markdown. */
export function filesInText(text: string): readonly AttachedFile[] {
  return [...text.matchAll(/(!?)\[((?:\\.|[^\]\\])*)\]\(throughline:attachment\/([\w-]+)\)/g)].map(
    ([, mark, name = "", id]) => ({
      kind: mark === "!" ? "image" : "document",
      id,
      url: undefined,
      mimeType: undefined,
      filename: name.replaceAll(/\\(.)/g, "$1"),
    }),
  );
}

function fileOf(part: JsonObject): AttachedFile {
  const source = isJsonObject(part.source) ? part.source : part;
  const mimeType = textOf(part.mimeType) ?? textOf(source.mimeType);
  const url = textOf(source.value) ?? textOf(source.url);
  const metadata = isJsonObject(part.metadata) ? part.metadata : {};
  return {
    kind:
      KINDS.find((kind) => kind === part.type) ??
      KINDS.find((kind) => mimeType?.startsWith(kind)) ??
      "document",
    id: (url && attachmentIdOf(url)) ?? textOf(part.id),
    url: url && attachmentIdOf(url) === undefined ? url : undefined,
    mimeType,
    filename: textOf(part.filename) ?? textOf(metadata.filename) ?? textOf(source.filename),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Maps an attachment id to its URL. */
export type FileHref = (attachmentId: string) => string;

const FileHrefContext = createContext<FileHref | undefined>(undefined);

/** Lets Markdown in it show files of the current thread. */
export function FilesOfThread({ children }: { readonly children: ReactNode }): ReactNode {
  const thread = useThreadHandle();
  const href = useMemo(() => (id: string) => attachmentPath(thread, id), [thread]);
  return <FileHrefContext value={href}>{children}</FileHrefContext>;
}

/** The file URLs of the current thread; `undefined` outside of a thread. */
export function useFileHref(): FileHref | undefined {
  return useContext(FileHrefContext);
}

function attachmentPath(thread: ThreadName, id: string): string {
  return `/api/throughline${threadPath(thread, `/attachments/${segment(id)}`)}`;
}
