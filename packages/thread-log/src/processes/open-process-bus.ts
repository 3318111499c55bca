import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { type Clock, systemClock } from "@throughline/ai-core";
import { encodeBusMessage, newInstanceName } from "../bus/bus-message.js";
import { createBusReceiver } from "../bus/bus-receiver.js";
import { createGather } from "../bus/gather.js";
import type { BusTraffic, CommittedEntries, EntryBus } from "../port/entry-bus.js";
import { wakeTag } from "../port/wake-tag.js";
import type { PostgresDatabase } from "../postgres/open-postgres.js";
import { createFrameReader } from "./frames.js";
import type { ProcessGroup } from "./process-group.js";
import { keepSiblingLink, type SiblingLink } from "./sibling-link.js";

export interface ProcessBusOptions {
  readonly group: ProcessGroup;
  /** Whose entries it carries; tells of them on other hosts, and here where a message is lost. */
  readonly database: PostgresDatabase;
  readonly clock?: Clock;
  /** Called for each message. */
  readonly onTraffic?: (traffic: BusTraffic) => void;
}

export interface ProcessBus extends EntryBus {
  /** Whether it hears all the others and reaches them. */
  isConnected(): boolean;
  close(): Promise<void>;
}

/** The least time from one message to the next, as with notifications. */
const EVERY_MS = 20;
const ANSWER = Buffer.from([1]);

/**
 * R22: a bus between the processes of one host. Each has a Unix socket, and a connection to that of each other one, on which it
 * sends what it commits. Notifications are still sent, for other hosts: those of this group are skipped by a process that hears
 * all of it, and those of what could not be sent are in the sender's own name, which all hear.
 */
export async function openProcessBus(options: ProcessBusOptions): Promise<ProcessBus> {
  const { group, database, clock = systemClock, onTraffic = () => {} } = options;
  const instance = newInstanceName();
  const receiver = createBusReceiver({ instance, onTraffic });
  /** By the address of who sends. */
  const heard = new Map<string, Socket>();
  const incoming = new Set<Socket>();
  const links = new Map<string, SiblingLink>();
  let members: readonly string[] = [];

  const isMember = () => members.includes(group.address);
  const hearsAll = () => isMember() && members.every((one) => one === group.address || heard.has(one));
  const tellOtherHosts = database.joinGroup(group.name, hearsAll);

  function accept(socket: Socket): void {
    let from: string | undefined;
    const read = createFrameReader((frame) => {
      if (from !== undefined) return receiver.receive(frame);
      from = frame.toString();
      heard.set(from, socket);
      socket.write(ANSWER);
      // What it committed before is in the log; what it commits from here on is heard.
      receiver.tell({ kind: "all" });
    });
    incoming.add(socket);
    socket.on("data", read);
    socket.on("error", () => {});
    socket.on("close", () => {
      incoming.delete(socket);
      if (from === undefined || heard.get(from) !== socket) return;
      heard.delete(from);
      // What it had on its way is in the log.
      receiver.tell({ kind: "all" });
    });
  }

  function meet(addresses: readonly string[]): void {
    members = addresses;
    for (const [address, link] of links) {
      if (addresses.includes(address)) continue;
      links.delete(address);
      link.close();
    }
    for (const address of addresses) {
      if (address === group.address || links.has(address)) continue;
      links.set(address, keepSiblingLink({ clock, address, from: group.address }));
    }
  }

  const server = await listen(group.address, accept);
  const stopListening = group.onMembers(meet);
  group.join();

  const hand = createGather<CommittedEntries>(clock, EVERY_MS, (commits) => {
    const onLost = () => {
      onTraffic("undelivered");
      database.tellOthers(commits.map(({ thread }) => wakeTag(thread)));
    };
    if (!isMember()) return onLost();
    const all = [...links.values()];
    if (all.length === 0) return;
    onTraffic("published");
    const message = encodeBusMessage(instance, commits);
    const sent = all.filter((link) => link.send(message, onLost));
    if (sent.length < all.length) onLost();
  });

  return {
    publish(commits) {
      if (commits.length === 0) return;
      tellOtherHosts(commits.map(({ thread }) => wakeTag(thread)));
      hand(commits);
    },
    subscribe: receiver.subscribe,
    isConnected: () => hearsAll() && [...links.values()].every((link) => link.isUp()),
    async close() {
      stopListening();
      receiver.close();
      for (const link of links.values()) link.close();
      for (const socket of incoming) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(address: string, accept: (socket: Socket) => void): Promise<Server> {
  // A process that died had the same id.
  rmSync(address, { force: true });
  return new Promise((resolve, reject) => {
    const server = createServer(accept);
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      // A connection that could not be accepted: the other one tries again.
      server.on("error", () => {});
      resolve(server);
    });
  });
}
