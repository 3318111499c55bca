import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { openProcessBus, type ProcessBus } from "../processes/open-process-bus.js";
import type { ProcessGroup } from "../processes/process-group.js";
import { type BusFixture, openBusFixture } from "./bus-fixture.js";
import { makeTempFolder } from "./temp-folder.js";

/** What the process that starts the others does for them, in this one. */
export function createTestGroup() {
  const folder = makeTempFolder();
  const name = randomBytes(6).toString("base64url");
  const joined = new Set<string>();
  const listeners = new Set<(addresses: readonly string[]) => void>();
  let count = 0;

  function tellAll(): void {
    for (const listener of listeners) listener([...joined]);
  }

  return {
    newMember(): ProcessGroup {
      count += 1;
      const address = join(folder.path, `${count}.sock`);
      return {
        name,
        address,
        join() {
          joined.add(address);
          tellAll();
        },
        onMembers(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      };
    },
    leave(address: string): void {
      joined.delete(address);
      tellAll();
    },
    remove: () => folder.remove(),
  };
}

export type TestGroup = ReturnType<typeof createTestGroup>;

/** Instances on one host. Those with the address `elsewhere` are hosts of their own. */
export async function openProcessFixture(): Promise<BusFixture<ProcessBus> & { readonly group: TestGroup }> {
  const group = createTestGroup();
  const elsewhere: TestGroup[] = [];
  const fixture = await openBusFixture(async (database, events, address) => {
    const own = address === "elsewhere" ? createTestGroup() : group;
    if (own !== group) elsewhere.push(own);
    const member = own.newMember();
    const bus = await openProcessBus({ group: member, database, ...events });
    return {
      ...bus,
      async close() {
        await bus.close();
        own.leave(member.address);
      },
    };
  });
  return {
    ...fixture,
    group,
    async close() {
      await fixture.close();
      for (const one of [group, ...elsewhere]) one.remove();
    },
  };
}
