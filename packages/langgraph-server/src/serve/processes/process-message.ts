import type { MetricData } from "../../operations/metrics.js";
import type { ServeNews, Serving } from "../run-server.js";

/** What a process tells the one that started it. */
export type FromProcess =
  | { readonly kind: "serving"; readonly serving: Serving }
  | { readonly kind: "news"; readonly news: ServeNews }
  /** Asks for the metrics of all. */
  | { readonly kind: "render_metrics"; readonly id: number }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly MetricData[] }
  | GroupRequest;

export type GroupRequest =
  /** Asks for the group that it is to be part of. */
  | { readonly kind: "ask_group" }
  /** It listens for entries now. */
  | { readonly kind: "join_group"; readonly address: string };

/** What the processes of one host hand each other entries by. */
export interface GroupPlace {
  readonly name: string;
  /** Where the process that is told this is to listen. */
  readonly address: string;
}

/** What it is told. */
export type ToProcess =
  | { readonly kind: "collect_metrics"; readonly id: number }
  /** `undefined`: they could not be added up. */
  | { readonly kind: "rendered_metrics"; readonly id: number; readonly text: string | undefined }
  /** `undefined`: there is none. */
  | { readonly kind: "group"; readonly place: GroupPlace | undefined }
  /** Addresses of all that have joined. */
  | { readonly kind: "group_members"; readonly addresses: readonly string[] };
