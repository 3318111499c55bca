/** A folder for what is installed from these files: another when they change. */
export function cacheFolder(name: string, files: readonly string[]): string;

/** The path of the proxy's command, whether it is there or not. */
export function litellmCommand(): string;

/** Installs LiteLLM and what other locks name into a Python environment of its own. */
export function installLitellm(folder: string, moreLocks?: readonly string[]): Promise<void>;

/** Installs the LiteLLM that tests start, once; gives what is missing to run it. */
export function ensureLitellm(): Promise<string | undefined>;
