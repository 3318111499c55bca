import { z } from "zod";
import { askService, segment } from "../service/ask-service";

const attachmentSchema = z.object({ id: z.string(), mimeType: z.string() });
type UploadedFile = z.output<typeof attachmentSchema>;

interface Upload {
  readonly agentId: string;
  readonly threadId: string;
  readonly file: File;
  readonly mimeType: string;
  readonly signal: AbortSignal;
}

/** Bytes as they are, into the thread they belong to; a message names them afterwards. */
export function uploadAttachment({
  agentId,
  threadId,
  file,
  mimeType,
  signal,
}: Upload): Promise<UploadedFile> {
  const path = `/agents/${segment(agentId)}/threads/${segment(threadId)}/attachments`;
  return askService(`${path}?filename=${segment(file.name)}`, attachmentSchema, {
    method: "POST",
    file: { content: file, mimeType },
    signal,
  });
}
