import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { AttachmentOwner, AttachmentPort, EmbeddedFile } from "@throughline/ai-core";
import { replaceMedia, toAttachmentReference, unstoredPart } from "@throughline/coerce";
import { ForwardingSaver } from "../checkpoints/run-saver.js";
import {
  loadAttachmentBlock,
  namedAttachment,
  storedBlock,
  withItsBytes,
  withoutItsBytes,
} from "./blocks.js";
import { isExact, nameFile } from "./files.js";

/**
 * A saver that hands a graph its messages with the files in them, and takes the files out of what the graph writes: no
 * checkpoint holds any.
 */
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
  /** The result for each file of this run: `undefined` for one that is stored, else why it is not. */
  readonly #results = new Map<string, string | undefined>();
  readonly #clean = new WeakSet<object>();

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

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const history = await super.getDeltaChannelHistory(options);
    await this.#fillIn([history]);
    return history;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const values = await this.#takeOut(checkpoint.channel_values);
    const stored =
      values === checkpoint.channel_values ? checkpoint : { ...checkpoint, channel_values: values };
    return super.put(config, stored, metadata, newVersions);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return super.putWrites(config, await this.#takeOut(writes), taskId);
  }

  /** Loads files in place: values read from a store belong to their reader, and messages are objects of any class. */
  async #fillIn(values: unknown[]): Promise<void> {
    // Newest messages first: where not all files may be read, it is the oldest that become text parts.
    for (const { holder, key, fill } of [...namedBlocks(values)].reverse()) {
      Reflect.set(holder, key, await fill(this.#owner, this.#attachments));
    }
  }

  /** Returns a copy without files, or the value where it has none: the graph continues with its own objects. */
  async #takeOut<Value extends object>(value: Value): Promise<Value> {
    const found = new Map<string, EmbeddedFile>();
    const taken = this.#replaced(value, found);
    if (found.size === 0) return taken;
    try {
      // One after the other, so that no more than a piece of one is in memory in addition to the graph's own.
      for (const file of found.values()) {
        this.#results.set(file.id, await this.#attachments.storeFile(this.#owner, file));
      }
    } catch {
      // The store is in an outage and the run is over, or it refuses the file: then the bytes remain in the value.
      return value;
    }
    const isAllStored = [...found.keys()].every((id) => this.#results.get(id) === undefined);
    return isAllStored ? taken : this.#replaced(value, found);
  }

  #replaced<Value extends object>(value: Value, found: Map<string, EmbeddedFile>): Value {
    const replaced = replaceMedia(
      value,
      (media, block) => {
        const marked = toAttachmentReference(block);
        if (marked) return marked;
        // A block that could not be restored byte for byte stays as it is.
        if (!isExact(media.source)) return undefined;
        const file = nameFile(media, block);
        if (file.bytes === 0) return undefined;
        const why = this.#results.get(file.id);
        if (why !== undefined) return unstoredPart(media, why);
        if (!this.#results.has(file.id)) found.set(file.id, file);
        return withoutItsBytes(media, block, file);
      },
      this.#clean,
    );
    // The copy has the same class and shape.
    return replaced as Value;
  }
}

interface NamedBlock {
  readonly holder: object;
  readonly key: string;
  readonly fill: (owner: AttachmentOwner, attachments: AttachmentPort) => Promise<object>;
}

/** Without recursion, so that a deep state costs no stack. */
function namedBlocks(root: object): readonly NamedBlock[] {
  const found: NamedBlock[] = [];
  const seen = new Set<object>([root]);
  for (const holder of seen) {
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value !== "object" || value === null) continue;
      const fill = fillerOf(value);
      if (fill) found.push({ holder, key, fill });
      else if (!ArrayBuffer.isView(value)) seen.add(value);
    }
  }
  return found;
}

function fillerOf(block: object): NamedBlock["fill"] | undefined {
  const stored = storedBlock(block);
  if (stored) return (owner, attachments) => withItsBytes(block, stored, owner, attachments);
  const id = namedAttachment(block);
  return id === undefined
    ? undefined
    : (owner, attachments) => loadAttachmentBlock(block, id, owner, attachments);
}
