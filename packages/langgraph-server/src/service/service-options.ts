import type { Clock, UsagePort } from "@throughline/ai-core";
import type { GraphProvider, GraphSource } from "@throughline/graph-executor";
import type { AttachmentLimits } from "../attachments/attachment-limits.js";
import type { MediaOrigins } from "../attachments/media-url.js";
import type { TransferLimits } from "../attachments/transfer-permits.js";
import type { AuditOptions } from "../audit/create-audit-log.js";
import type { BillingOptions } from "../billing/billing-options.js";
import type { Retention } from "../operations/retention-sweeper.js";
import type { AccountLimits } from "../tenancy/account-limits.js";
import type { ServiceObserver } from "../thread/service-observer.js";
import type { InstanceRole } from "./instance-role.js";
import type { ServiceStore } from "./open-stores.js";

export interface ServiceOptions {
  readonly store: ServiceStore;
  /** Graphs of this process, or a provider that runs them elsewhere. */
  readonly graphs: GraphSource | GraphProvider;
  /** Of a run that names none. Default: with LiteLLM the first that the account may use, else the offline model. */
  readonly defaultModel?: string;
  /** Model calls go through a LiteLLM and are metered. Default: the offline model, and nothing is metered. */
  readonly billing?: BillingOptions;
  /** Sends requests to LiteLLM; `fetch` as it is now by default. */
  readonly send?: typeof fetch;
  readonly clock?: Clock;
  readonly usage?: UsagePort;
  readonly observer?: Partial<ServiceObserver>;
  /** How long a run stays leased without a heartbeat. Default 15 s. */
  readonly leaseMs?: number;
  /** How often abandoned and queued runs are claimed, give or take a quarter. Default 5 s. */
  readonly reapEveryMs?: number;
  /** Crash recoveries before a run fails as `run_lost`. Default 5. */
  readonly maxCrashes?: number;
  /** Whether people are told a graph's own errors, which may carry a key, a prompt or a path. Default `false`. */
  readonly showGraphErrors?: boolean;
  /** Runs this instance drives at once. Past that starts are refused, and what others leave is left to others. Default 200. */
  readonly maxDriven?: number;
  /** How long a thread's view is kept in memory after its last use. Default 30 s. */
  readonly lingerMs?: number;
  /** What this instance does, where others do the rest. All by default. */
  readonly roles?: readonly InstanceRole[];
  /** Names this instance among others. Random by default. */
  readonly instance?: string;
  /** R20: how much of each thread is kept, and how long ended runs are known. Generous by default. */
  readonly retention?: Retention;
  /** What accounts may take. Default: `DEFAULT_LIMITS`. */
  readonly limitsOf?: (account: string) => AccountLimits;
  readonly crons?: CronOptions;
  readonly attachmentLimits?: AttachmentLimits;
  readonly audit?: AuditOptions;
  /** How many files may be sent and received at once. */
  readonly transferLimits?: TransferLimits;
  /** How long a file may wait for a message that names it before it is deleted. Default one day. */
  readonly unnamedMs?: number;
  /** Where media that messages name by URL may lie; `*` for every public https origin. None by default. */
  readonly mediaOrigins?: MediaOrigins;
  /** What links to files are signed with; the same on every instance. Default: a secret of this instance's own. */
  readonly linkSecret?: string;
}

export interface CronOptions {
  /** How long another instance's changes may go unnoticed, give or take a quarter. Default 5 s. */
  readonly everyMs?: number;
  /** Per account. Default 100. */
  readonly maxCrons?: number;
  /** What time it is for crons. Default: what the store's own clock says (R18). */
  readonly now?: () => number;
}
