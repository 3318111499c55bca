export interface LanggraphDevOptions {
  /** This port or none; 0 takes any free one. Without it 2024, or the next free one. */
  readonly port?: number;
  /** Leave out the server's own log. */
  readonly quiet?: boolean;
  /** Restart when a source changes. */
  readonly reload?: boolean;
  /** Where the server keeps its state (`.langgraph_api`); two servers must not share it. */
  readonly cwd?: string;
  /** More graphs than this repository's, in a `cwd` of its own: by name, as `/path/to/file.ts:export`. */
  readonly graphs?: Readonly<Record<string, string>>;
  /** How many runs it works on at once. */
  readonly workers?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface LanggraphDev {
  readonly url: string;
  readonly pid: number;
  /** Lets the server write its threads to disk, then ends every process of it. */
  stop(): Promise<void>;
  /** The exit code of the CLI, `null` when a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts the official dev server with this repository's graphs; resolves when it answers. */
export function startLanggraphDev(options?: LanggraphDevOptions): Promise<LanggraphDev>;
