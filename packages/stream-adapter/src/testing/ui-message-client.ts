import type { UiMessage, UiMessageChunk } from "@throughline/reading";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";

/** What the AI SDK's own reader makes of a stream. Fails on a chunk that its schema does not know or that its reader refuses. */
export async function readWithStockClient(
  chunks: readonly UiMessageChunk[],
  message?: UIMessage,
): Promise<UIMessage> {
  const shapes = new Map(chunks.map((chunk) => [Object.keys(chunk).join() + chunk.type, chunk]));
  for (const chunk of shapes.values()) await requireKnown(chunk);
  // A failed run is told to the client as an error, after all that was said.
  const said = chunks.filter(({ type }) => type !== "error");
  // The schema accepted each of them.
  const stream = ReadableStream.from(said as readonly UIMessageChunk[]);
  let last: UIMessage = message ?? { id: "", role: "assistant", parts: [] };
  const states = readUIMessageStream({ stream, terminateOnError: true, ...(message && { message }) });
  for await (const state of states) last = state;
  return last;
}

async function requireKnown(chunk: UiMessageChunk): Promise<void> {
  const checked = await uiMessageChunkSchema().validate?.(chunk);
  if (!checked?.success) throw new Error(`The AI SDK does not know ${JSON.stringify(chunk)}.`);
}

interface Shown {
  text: string;
  reasoning: string;
  files: unknown[];
  tools: unknown[];
}

/** What a person sees of an answer, by message, in however many parts it came. The order is the stream's own. */
export function shownOf({ parts }: Pick<UiMessage | UIMessage, "parts">): [string, Shown][] {
  const shown = new Map<string, Shown>();
  const listed = parts as readonly LoosePart[];
  listed.forEach((part, at) => {
    const id = messageIdOf(part);
    if (id === undefined || isTakenBack(id, listed.slice(at))) return;
    const known = shown.get(id) ?? { text: "", reasoning: "", files: [], tools: [] };
    shown.set(id, known);
    if (part.type === "text") known.text += part.text;
    else if (part.type === "reasoning") known.reasoning += part.text;
    else if (part.type === "file") known.files.push([part.url, part.mediaType]);
    else {
      const { toolCallId, toolName, state, input, output, errorText } = part;
      known.tools.push({ toolCallId, toolName, state, input, output, errorText });
    }
  });
  return [...shown]
    .filter(([, seen]) => Object.values(seen).some(({ length }) => length > 0))
    .sort(([one], [other]) => one.localeCompare(other));
}

interface LoosePart {
  readonly type: string;
  readonly data?: { readonly messageIds?: readonly string[] };
  readonly providerMetadata?: { readonly throughline?: { readonly messageId?: string } };
  readonly callProviderMetadata?: LoosePart["providerMetadata"];
  readonly [key: string]: unknown;
}

function messageIdOf(part: LoosePart): string | undefined {
  return (part.providerMetadata ?? part.callProviderMetadata)?.throughline?.messageId;
}

function isTakenBack(id: string, later: readonly LoosePart[]): boolean {
  return later.some(({ type, data }) => type === "data-retracted" && data?.messageIds?.includes(id));
}
