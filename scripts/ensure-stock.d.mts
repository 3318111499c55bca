/** Installs packages as they are published, outside the workspace, which patches them; once. Gives what loads them. */
export function ensureStock(): Promise<NodeJS.Require>;
