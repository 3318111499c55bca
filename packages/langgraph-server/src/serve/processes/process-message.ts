import type { MetricData } from "../../operations/metrics.js";
import type { ServeNews, Serving } from "../run-server.js";

/** What a process tells the one that started it. */
export type FromProcess =
  | { readonly kind: "serving"; readonly serving: Serving }
  | { readonly kind: "news"; readonly news: ServeNews }
  /** Asks for the metrics of all. */
  | { readonly kind: "render_metrics"; readonly id: number }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly MetricData[] };

/** What it is told. */
export type ToProcess =
  | { readonly kind: "collect_metrics"; readonly id: number }
  /** `undefined`: they could not be added up. */
  | { readonly kind: "rendered_metrics"; readonly id: number; readonly text: string | undefined };
