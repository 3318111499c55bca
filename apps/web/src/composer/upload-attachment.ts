import { z } from "zod";
import { ServiceError, segment } from "../service/ask-service";

const attachmentSchema = z.object({ id: z.string(), url: z.string(), mimeType: z.string() });
type UploadedFile = z.output<typeof attachmentSchema>;
const refusalSchema = z.object({ code: z.string(), message: z.string() });

interface Upload {
  readonly agentId: string;
  readonly threadId: string;
  readonly file: File;
  readonly mimeType: string;
  readonly signal: AbortSignal;
}

/** Bytes as they are, into the thread they belong to; a message names them afterwards. */
export async function uploadAttachment({
  agentId,
  threadId,
  file,
  mimeType,
  signal,
}: Upload): Promise<UploadedFile> {
  const path = `/api/throughline/agents/${segment(agentId)}/threads/${segment(threadId)}/attachments`;
  const answer = await fetch(`${path}?filename=${segment(file.name)}`, {
    method: "POST",
    headers: { "content-type": mimeType },
    body: file,
    signal,
  });
  const said: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return attachmentSchema.parse(said);
  const refusal = refusalSchema.safeParse(said);
  throw refusal.success
    ? new ServiceError(refusal.data.code, refusal.data.message)
    : new ServiceError("internal", "The upload failed. Try again.");
}
