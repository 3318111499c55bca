import type { ToolDeclaration } from "../transport/agent-service.js";
import type { Wants } from "./tab-channel.js";

interface OtherTab {
  readonly open: readonly string[];
  readonly wants: Wants;
}

/** The needs of the other tabs, as registered with the leader tab. */
export function createOtherTabs() {
  const tabs = new Map<string, OtherTab>();
  return {
    set: (tab: string, needs: OtherTab): void => void tabs.set(tab, needs),
    delete: (tab: string) => tabs.delete(tab),
    clear: () => tabs.clear(),
    /** The threads that they show. */
    open: (): ReadonlySet<string> => new Set([...tabs.values()].flatMap(({ open }) => open)),
    /** The threads to poll for them. */
    watched: (): readonly string[] => [...tabs.values()].flatMap(({ wants }) => wants.watched),
    isWanted: (key: string): boolean =>
      [...tabs.values()].some(({ open, wants }) => open.includes(key) || wants.watched.includes(key)),
    /** The tools of all tabs and these, one per name. */
    toolsWith(own: readonly ToolDeclaration[]): readonly ToolDeclaration[] {
      const all = [...[...tabs.values()].flatMap(({ wants }) => wants.tools), ...own];
      return [...new Map(all.map((tool) => [tool.name, tool])).values()];
    },
  };
}
