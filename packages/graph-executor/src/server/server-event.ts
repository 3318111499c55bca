/** One SSE event of a run's stream, as the SDK gives it. */
export interface ServerEvent {
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: unknown;
}
