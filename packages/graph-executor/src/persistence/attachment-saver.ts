import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { AttachmentOwner, AttachmentPort } from "@throughline/ai-core";
import { namedAttachment, withBytes } from "../attachments/attachment-block.js";
import { ForwardingSaver } from "./forwarding-saver.js";

/** A saver that hands a graph its messages with the files in them, which no checkpoint holds. */
export function attachmentSaver(
  saver: BaseCheckpointSaver,
  owner: AttachmentOwner,
  attachments: AttachmentPort,
): BaseCheckpointSaver {
  return new AttachmentSaver(saver, owner, attachments);
}

class AttachmentSaver extends ForwardingSaver {
  readonly #owner: AttachmentOwner;
  readonly #attachments: AttachmentPort;

  constructor(inner: BaseCheckpointSaver, owner: AttachmentOwner, attachments: AttachmentPort) {
    super(inner);
    this.#owner = owner;
    this.#attachments = attachments;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple(config);
    if (tuple) await this.#fillIn([tuple.checkpoint.channel_values, tuple.pendingWrites ?? []]);
    return tuple;
  }

  /** In place: what was read from a store belongs to whoever read it, and messages are objects of any class. */
  async #fillIn(values: unknown[]): Promise<void> {
    // Newest messages first: where not all files may be read, it is the oldest that are named in words.
    for (const { holder, key, block, id } of [...namedBlocks(values)].reverse()) {
      Reflect.set(holder, key, await withBytes(block, id, this.#owner, this.#attachments));
    }
  }
}

interface NamedBlock {
  readonly holder: object;
  readonly key: string;
  readonly block: object;
  readonly id: string;
}

/** Without recursion, so that a deep state costs no stack. */
function namedBlocks(root: object): readonly NamedBlock[] {
  const found: NamedBlock[] = [];
  const seen = new Set<object>([root]);
  for (const holder of seen) {
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value !== "object" || value === null) continue;
      const id = namedAttachment(value);
      if (id !== undefined) found.push({ holder, key, block: value, id });
      else if (!ArrayBuffer.isView(value)) seen.add(value);
    }
  }
  return found;
}
