"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { segment } from "../service/ask-service";

/** Where the browser reads an attachment. */
export type FileHref = (attachmentId: string) => string;

const FileHrefContext = createContext<FileHref | undefined>(undefined);

/** Text in it may show files of the thread that it stands in. */
export function FilesOfThread({ children }: { readonly children: ReactNode }): ReactNode {
  const { agentId, threadId } = useThreadHandle();
  const href = useMemo(() => (id: string) => attachmentPath(agentId, threadId, id), [agentId, threadId]);
  return <FileHrefContext value={href}>{children}</FileHrefContext>;
}

/** `undefined` where text belongs to no thread. */
export function useFileHref(): FileHref | undefined {
  return useContext(FileHrefContext);
}

export function attachmentPath(agentId: string, threadId: string, id: string): string {
  return `/api/throughline/agents/${segment(agentId)}/threads/${segment(threadId)}/attachments/${segment(id)}`;
}
