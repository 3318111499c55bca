import { type Clock, ThroughlineError } from "@throughline/ai-core";
import type { AccountUsage } from "../tenancy/account-limits.js";
import type { ExportScope } from "./account-rows.js";
import { type ExportPlaces, exportAccount } from "./export-account.js";

export interface ExportService {
  /**
   * The archive, made as it is read; to be read or cancelled, because it holds the account's permit until then. Throws
   * `rate_limited` while another export of the account runs.
   */
  open(scope: ExportScope): Promise<ReadableStream<Uint8Array>>;
  /** Cuts open archives off. */
  close(): void;
}

export interface ExportServiceOptions extends ExportPlaces {
  readonly clock: Clock;
  readonly usage: Pick<AccountUsage, "export">;
}

export function createExportService(options: ExportServiceOptions): ExportService {
  const { clock, usage } = options;
  const closing = new AbortController();

  return {
    async open(scope) {
      const { leave } = await usage.export(scope.account);
      const chunks = exportAccount(options, { scope, now: clock.now(), signal: closing.signal });
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            try {
              const { done, value } = await chunks.next();
              if (!done) return controller.enqueue(value);
              leave();
              controller.close();
            } catch (error) {
              leave();
              controller.error(error);
            }
          },
          async cancel() {
            leave();
            await chunks.return(undefined);
          },
        },
        // Nothing is read ahead of the reader.
        { highWaterMark: 0 },
      );
    },
    close() {
      closing.abort(new ThroughlineError("shutting_down", "This instance is shutting down."));
    },
  };
}
