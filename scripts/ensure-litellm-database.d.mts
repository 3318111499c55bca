/** How to start a LiteLLM with a database, but for its address. */
export function litellmWithDatabase(): {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The statements that make LiteLLM's tables, in order. */
export function litellmMigrations(): readonly string[];

/** Installs a LiteLLM with its database client, once; gives what is missing to run it. */
export function ensureLitellmDatabase(): Promise<string | undefined>;
