import type {
  AgentCatalogPort,
  Clock,
  ForeignRunsPort,
  GraphExecutorPort,
  GraphStatePort,
  UsagePort,
} from "@throughline/ai-core";
import type { Lease, LeaseKeeper, RunRegistry, ThreadDirectory, ThreadLog } from "@throughline/thread-log";
import type { FileKeeper } from "../attachments/file-keeper.js";
import type { RunBilling } from "../billing/run-billing.js";
import type { SaidWriter } from "../search/said-writer.js";
import type { ServiceObserver } from "../thread/service-observer.js";
import type { ThreadViews } from "../thread/thread-views.js";
import type { RunBounds } from "./run-meter.js";

/** What drives runs on this instance. */
export interface DriverDeps {
  readonly log: ThreadLog;
  readonly views: ThreadViews;
  readonly registry: RunRegistry;
  readonly directory: ThreadDirectory;
  readonly keeper: LeaseKeeper;
  readonly executor: GraphExecutorPort;
  readonly state: GraphStatePort;
  /** Where graphs run on a server that others use too. */
  readonly foreignRuns?: ForeignRunsPort | undefined;
  readonly agents: AgentCatalogPort;
  /** Stores the files that graphs make. */
  readonly fileKeeper: FileKeeper;
  /** Told of model calls that no meter sees. */
  readonly usage: UsagePort;
  readonly billing: RunBilling;
  /** Told what runs said, so that it can be found. */
  readonly said: Pick<SaidWriter, "note">;
  readonly clock: Clock;
  readonly observer: ServiceObserver;
  readonly lease: Lease;
  /** Whether a graph's own errors are told to people. */
  readonly showGraphErrors: boolean;
  /** What an account's run may write. */
  readonly boundsOf: (account: string) => RunBounds;
  /** Crash recoveries before a run fails as `run_lost`. */
  readonly maxCrashes: number;
}
