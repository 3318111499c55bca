import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { maintainRedisLink } from "./connection.js";

interface FakeClient {
  readonly name: number;
  lose(reason: unknown): void;
  /** Answers an introduction or a probe. */
  answer(): void;
  fail(): void;
  isDestroyed: boolean;
}

function scene() {
  const clock = createSimulatedClock();
  const clients: FakeClient[] = [];
  const changes: string[] = [];
  let answer: (() => void) | undefined;
  let fail: (() => void) | undefined;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      answer = resolve;
      fail = () => reject(new Error("refused"));
    });
  const link = maintainRedisLink<FakeClient>({
    clock,
    create(onLost) {
      const client: FakeClient = {
        name: clients.length,
        lose: onLost,
        answer: () => answer?.(),
        fail: () => fail?.(),
        isDestroyed: false,
      };
      clients.push(client);
      return client;
    },
    introduce: ask,
    probe: ask,
    destroy(client) {
      client.isDestroyed = true;
    },
    onUp: () => changes.push("up"),
    onDown: () => changes.push("down"),
  });
  const settle = async (act: () => void) => {
    act();
    await new Promise(setImmediate);
  };
  return { clock, link, clients, changes, settle, last: () => clients.at(-1) };
}

describe("a link to Redis", () => {
  it("has a client from its introduction on until it is lost, then makes another one", async () => {
    const { clock, link, clients, changes, settle, last } = scene();
    expect(link.client()).toBeUndefined();
    await settle(() => last()?.answer());
    expect(link.client()).toBe(clients[0]);
    await settle(() => clients[0]?.lose("cut"));
    expect(link.client()).toBeUndefined();
    expect(clients[0]?.isDestroyed).toBe(true);
    clock.advance(50);
    await settle(() => last()?.answer());
    expect(link.client()).toBe(clients[1]);
    expect(changes).toEqual(["up", "down", "up"]);
  });

  it("gives up a server that accepts a connection and answers nothing, within a second", async () => {
    const { clock, clients, changes, settle } = scene();
    await settle(() => clock.advance(1_000));
    expect(changes).toEqual(["down"]);
    expect(clients[0]?.isDestroyed).toBe(true);
    clock.advance(50);
    expect(clients).toHaveLength(2);
  });

  it("notices within two seconds that a server which was there answers nothing", async () => {
    const { clock, changes, settle, last } = scene();
    await settle(() => last()?.answer());
    await settle(() => clock.advance(1_000));
    await settle(() => last()?.answer());
    await settle(() => clock.advance(1_000));
    expect(changes).toEqual(["up"]);
    await settle(() => clock.advance(1_000));
    expect(changes).toEqual(["up", "down"]);
  });

  it("tries again ever more slowly, but at least every second, and quickly again once it was there", async () => {
    const { clock, clients, settle, last } = scene();
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      await settle(() => last()?.fail());
      let waited = 0;
      for (const count = clients.length; clients.length === count; waited += 10) clock.advance(10);
      waits.push(waited);
    }
    expect(waits).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
    await settle(() => last()?.answer());
    await settle(() => last()?.lose("cut"));
    const count = clients.length;
    clock.advance(50);
    expect(clients).toHaveLength(count + 1);
  });

  it("does nothing more once it is closed, and takes no late word of a client it gave up", async () => {
    const { clock, link, clients, changes, settle, last } = scene();
    await settle(() => last()?.answer());
    await settle(() => clients[0]?.lose("cut"));
    await settle(() => clients[0]?.lose("again"));
    clock.advance(50);
    link.close();
    await settle(() => last()?.answer());
    clock.advance(60_000);
    expect(clients).toHaveLength(2);
    expect(clients[1]?.isDestroyed).toBe(true);
    expect(changes).toEqual(["up", "down"]);
  });
});
