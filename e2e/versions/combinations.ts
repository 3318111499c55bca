import type { PackageManager } from "../install/rig/package-manager.js";

/** LangChain's packages as a project names them; the package manager chooses the rest. */
export interface Combination {
  readonly manager: PackageManager;
  readonly langgraph: string;
  readonly core: string;
  /** Named where the newest release in LangGraph's own range wants a newer core than the project's. */
  readonly sdk?: string;
}

const OLDEST = { langgraph: "1.0.0", core: "1.1.48" };
const NEWEST = { langgraph: "1.4.18", core: "1.2.13", sdk: "1.12.4" };
const NEWEST_CORE = "1.2.13";

/** The oldest and the newest of all with both package managers, and the last release of each minor between them. */
export const COMBINATIONS: readonly Combination[] = [
  { manager: "npm", ...OLDEST },
  { manager: "pnpm@10.34.8", ...OLDEST },
  { manager: "npm", langgraph: "1.0.15", core: NEWEST_CORE },
  { manager: "npm", langgraph: "1.1.4", core: NEWEST_CORE },
  { manager: "npm", langgraph: "1.2.9", core: NEWEST_CORE },
  { manager: "npm", langgraph: "1.3.7", core: NEWEST_CORE },
  { manager: "npm", langgraph: "1.4.17", core: NEWEST_CORE },
  { manager: "npm", ...NEWEST },
  { manager: "pnpm@10.34.8", ...NEWEST },
];
