"use client";

import { type ThreadName, threadCall } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { segment } from "../../data/request";
import { Icon } from "../primitives/icon";
import { isJsonObject } from "../primitives/json-tree";
import styles from "./attachments.module.css";

interface AttachedFilesProps {
  readonly files: readonly AttachedFile[];
  readonly thread: ThreadName;
}

/** Pictures are shown, anything else is named; both open the file itself. */
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
  /** Of the service's own store: a page that loads what an agent names would tell strangers who reads. */
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
  /** Of the service's own store; else `url` says where it lies. */
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

/** The id behind the address of an attachment. */
export function attachmentIdOf(url: string): string | undefined {
  return url.startsWith(ATTACHMENT) ? url.slice(ATTACHMENT.length) : undefined;
}

/** Files of the thread that a tool's answer shows: the protocol has only text for them, so they stand in it as Markdown. */
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

/** Where the browser reads an attachment. */
export type FileHref = (attachmentId: string) => string;

const FileHrefContext = createContext<FileHref | undefined>(undefined);

/** Text in it may show files of the thread that it stands in. */
export function FilesOfThread({ children }: { readonly children: ReactNode }): ReactNode {
  const thread = useThreadHandle();
  const href = useMemo(() => (id: string) => attachmentPath(thread, id), [thread]);
  return <FileHrefContext value={href}>{children}</FileHrefContext>;
}

/** `undefined` where text belongs to no thread. */
export function useFileHref(): FileHref | undefined {
  return useContext(FileHrefContext);
}

function attachmentPath(thread: ThreadName, id: string): string {
  return `/api/throughline${threadCall(thread, `/attachments/${segment(id)}`)}`;
}
