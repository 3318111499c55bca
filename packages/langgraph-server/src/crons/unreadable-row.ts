/**
 * The format of what crons store as JSON: definitions and outcomes of ticks. Raise it with every change of one of their
 * schemas, so that a row which an older version has set aside is tried again by the version that can read it.
 */
export const CRON_FORMAT = 2;

/**
 * A stored row that this version can't decode. It is not the caller's failure: the row is set aside, and what was asked is done
 * again without it.
 */
export class UnreadableRow extends Error {
  override readonly name = "UnreadableRow";

  constructor(
    readonly key: {
      readonly table: "crons" | "cron_ticks";
      readonly cronId: string;
      readonly tickId?: string;
    },
    cause: unknown,
  ) {
    super(`A row of ${key.table} can't be read.`, { cause });
  }

  get id(): string {
    const { cronId, tickId } = this.key;
    return tickId === undefined ? cronId : `${cronId} ${tickId}`;
  }
}

/** The condition for rows of `alias` that no version of this format or a newer one has set aside. */
export function isReadable(alias: string): string {
  return `(${alias}.unreadable_format is null or ${alias}.unreadable_format < ${CRON_FORMAT})`;
}
