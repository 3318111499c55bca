import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { ATTACHMENT_MARK } from "@throughline/ai-core";
import { read, toAttachmentReference } from "@throughline/coerce";

/** The text that LangGraph's serializer writes in place of a value that is no JSON, a BigInt for one. */
const REFUSED = Buffer.from('"[unable to serialize');

/** Values that could not be written. Checkpoints are stored by channel, so these are the channels' values. */
const unstorable = new WeakSet<object>();

/** Whether a channel's value was found to be none that a checkpoint can hold. Known once it was to be written. */
export function isUnstorable(value: unknown): boolean {
  return typeof value === "bigint" || (typeof value === "object" && value !== null && unstorable.has(value));
}

/** LangGraph's memory saver writes a checkpoint as one value: only the channels that are at fault are left out of it. */
async function dumpStorable(inner: SerializerProtocol, value: unknown): Promise<[string, Uint8Array]> {
  const dumped = await inner.dumpsTyped(value);
  if (typeof value === "string" || !isRefused(dumped[1])) return dumped;
  const channels = read(value, "channel_values");
  if (typeof value !== "object" || value === null) return dumped;
  if (typeof channels !== "object" || channels === null) {
    unstorable.add(value);
    return dumped;
  }
  const storable: [string, unknown][] = [];
  for (const [channel, held] of Object.entries(channels)) {
    if (!isRefused((await dumpStorable(inner, held))[1])) storable.push([channel, held]);
  }
  return inner.dumpsTyped({ ...value, channel_values: Object.fromEntries(storable) });
}

function isRefused(bytes: Uint8Array): boolean {
  return REFUSED.equals(bytes.subarray(0, REFUSED.byteLength));
}

/**
 * Stores addresses of attachments instead of their bytes. A channel is stored whole with each step that changes it, so
 * without this a conversation would hold every file once per step. Costs a search for the mark where there is none.
 */
export function attachmentSerializer(inner: SerializerProtocol): SerializerProtocol {
  return {
    async dumpsTyped(value) {
      const [type, bytes] = await dumpStorable(inner, value);
      const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (type !== "json" || !stored.includes(ATTACHMENT_MARK)) return [type, bytes];
      const plain: unknown = JSON.parse(stored.toString(), (_, item: unknown) =>
        typeof item === "object" && item !== null ? (toAttachmentReference(item) ?? item) : item,
      );
      return [type, new TextEncoder().encode(JSON.stringify(plain))];
    },
    loadsTyped: (type, data) => inner.loadsTyped(type, data),
  };
}
