import type { CommandOutcome, ThreadRun } from "@throughline/agent-client";
import type { JsonObject } from "@throughline/ai-core";

/** How a page stands, as little as tests wait for. */
export interface TabNow {
  readonly status: ThreadRun["status"] | undefined;
  readonly connection: string;
  /** Characters of the text that streams right now. */
  readonly streamed: number;
  readonly messages: number;
  readonly isSyncing: boolean;
}

/** What a page is to show. */
export interface AskedOfPage {
  readonly agentId: string;
  readonly threadId: string;
  /** It signs in with its own server. */
  readonly isSignedIn?: boolean;
}

/** What a page lets a test do. */
export interface Tab {
  send(text: string): Promise<CommandOutcome>;
  answer(value: string): Promise<CommandOutcome>;
  /** Syncs both in one tick, as soon as a run begins. */
  syncTwiceAtNextRun(earlier: JsonObject, later: JsonObject): void;
  /** What came of that. */
  synced(): Promise<readonly [earlier: CommandOutcome, later: CommandOutcome]>;
  /** Everything it shows. */
  shown(): object;
  now(): TabNow;
}

declare global {
  /** Put there by the server of the page. */
  var asked: AskedOfPage;
  /** Put there by the page. */
  var tab: Tab;
}
