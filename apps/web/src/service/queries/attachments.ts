import { type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService } from "../ask-service";

const attachmentSchema = z.object({ id: z.string(), mimeType: z.string() });
type UploadedFile = z.output<typeof attachmentSchema>;

interface Upload {
  readonly thread: ThreadName;
  readonly file: File;
  readonly mimeType: string;
  readonly signal: AbortSignal;
}

/** Bytes as they are, into the thread they belong to; a message names them afterwards. */
export function uploadAttachment({ thread, file, mimeType, signal }: Upload): Promise<UploadedFile> {
  return askService(threadCall(thread, "/attachments", { filename: file.name }), attachmentSchema, {
    method: "POST",
    file: { content: file, mimeType },
    signal,
  });
}
