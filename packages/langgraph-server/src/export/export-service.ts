import { type Clock, ThroughlineError } from "@throughline/ai-core";
import type { ExportScope } from "./account-rows.js";
import { type ExportPlaces, exportAccount } from "./export-account.js";

export interface ExportService {
  /**
   * The archive, made as it is read; to be read or cancelled, because it holds the account's permit until then. Throws
   * `rate_limited` while another export of the account runs on this instance.
   */
  open(scope: ExportScope): ReadableStream<Uint8Array>;
  /** Cuts open archives off. */
  close(): void;
}

export interface ExportServiceOptions extends ExportPlaces {
  readonly clock: Clock;
}

const RETRY_AFTER_MS = 5_000;

export function createExportService(options: ExportServiceOptions): ExportService {
  const { clock } = options;
  const exporting = new Set<string>();
  const closing = new AbortController();

  return {
    open(scope) {
      const { account } = scope;
      if (exporting.has(account)) {
        throw new ThroughlineError(
          "rate_limited",
          "maxExports: this account is being exported by this instance already. Wait for that to end.",
          { details: { limit: "maxExports", max: 1, retryAfterMs: RETRY_AFTER_MS } },
        );
      }
      exporting.add(account);
      const leave = () => exporting.delete(account);
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
