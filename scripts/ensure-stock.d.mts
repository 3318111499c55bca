/** Installs packages as they are published, pinned by `scripts/stock/NAME`; once. Gives the folder whose `node_modules` has them. */
export function ensureStock(name: string): Promise<string>;
