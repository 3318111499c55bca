/** The path of the proxy's command, whether it is there or not. */
export function litellmCommand(): string;

/** Installs the LiteLLM that tests start, once; gives what is missing to run it. */
export function ensureLitellm(): Promise<string | undefined>;
