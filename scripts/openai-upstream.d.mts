/** A request that reached the provider. */
export interface UpstreamCall {
  readonly model: string;
  /** The last message. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Tokens streamed so far. */
  sent: number;
  /** `whole`, `refused`, `gone` (the caller left), or the way it was told to break. */
  outcome: string;
}

export interface OpenAiUpstream {
  readonly url: string;
  readonly calls: readonly UpstreamCall[];
  stop(): Promise<void>;
}

/** A provider in the shape of OpenAI's chat API that does what the last message says, the same each time. */
export function startOpenAiUpstream(): Promise<OpenAiUpstream>;
