import type { Interrupt } from "@throughline/ai-core";
import { interruptContent, readArray, readString } from "@throughline/coerce";

export interface InterruptSet {
  /** Adds the interrupts that a chunk at this namespace lists. */
  add(list: unknown, ns: readonly string[]): void;
  addKnown(interrupt: Interrupt): void;
  /** One interrupt per id; where several namespaces had it, that of the deepest, which is the node that interrupts. */
  all(): readonly Interrupt[];
}

export function createInterruptSet(): InterruptSet {
  const byId = new Map<string, Interrupt>();

  function add(interrupt: Interrupt): void {
    const known = byId.get(interrupt.interrupt_id);
    if (!known || interrupt.ns.length > known.ns.length) byId.set(interrupt.interrupt_id, interrupt);
  }

  return {
    add(list, ns) {
      if (!Array.isArray(list)) return;
      for (const raw of list) {
        const id = readString(raw, "id") ?? readString(raw, "interrupt_id");
        if (id === undefined) continue;
        const path =
          ns.length > 0 ? ns : readArray(raw, "ns").filter((segment) => typeof segment === "string");
        const last = path[path.length - 1];
        add({
          interrupt_id: id,
          ...interruptContent(raw),
          node:
            last === undefined
              ? null
              : last.slice(0, last.lastIndexOf(":") > 0 ? last.lastIndexOf(":") : undefined),
          ns: [...path],
        });
      }
    },
    addKnown: add,
    all: () => [...byId.values()],
  };
}
