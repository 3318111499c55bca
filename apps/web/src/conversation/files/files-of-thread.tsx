"use client";

import { type ThreadName, threadCall } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { segment } from "../../service/ask-service";

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

export function attachmentPath(thread: ThreadName, id: string): string {
  return `/api/throughline${threadCall(thread, `/attachments/${segment(id)}`)}`;
}
