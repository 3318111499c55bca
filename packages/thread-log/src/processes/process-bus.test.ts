import { createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext, vi } from "vitest";
import { take, textsOf } from "../conformance/log-scene.js";
import type { BusInstance } from "../testing/bus-fixture.js";
import { countStatements } from "../testing/count-statements.js";
import { append, followOther } from "../testing/follow-other.js";
import { openProcessFixture } from "../testing/process-bus-fixture.js";
import { createFrameReader } from "./frames.js";
import type { ProcessBus } from "./open-process-bus.js";

const eventually = (condition: () => unknown) => vi.waitFor(condition, { timeout: 10_000, interval: 20 });

let fixture: Awaited<ReturnType<typeof openProcessFixture>>;
beforeAll(async () => {
  fixture = await openProcessFixture();
});
afterEach(() => fixture.closeInstances());
afterAll(() => fixture?.close());

async function connected(...instances: readonly BusInstance<ProcessBus>[]): Promise<void> {
  await eventually(() => expect(instances.every(({ bus }) => bus.isConnected())).toBe(true));
}

async function openPair() {
  const writer = await fixture.openInstance();
  const reader = await fixture.openInstance();
  await connected(writer, reader);
  return { writer, reader, ...(await followOther(writer, reader)) };
}

/** Joins the group, and answers its greetings only; `isSilent`: not even those. */
async function joinStalled({ onTestFinished }: TestContext, { isSilent = false } = {}) {
  const member = fixture.group.newMember();
  const sockets = new Set<Socket>();
  const greeted: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    if (isSilent) return;
    const read = createFrameReader((frame) => {
      greeted.push(frame.toString());
      socket.write(".");
      // Nothing more is read: what is sent fills the buffers.
      socket.pause();
    });
    socket.on("data", read);
  });
  await new Promise<void>((resolve) => server.listen(member.address, resolve));
  member.join();
  onTestFinished(async () => {
    fixture.group.leave(member.address);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { greeted };
}

describe("the bus between processes of one host", () => {
  it("brings entries to another process, which reads nothing for them nor for the notification", async () => {
    const { writer, reader, thread, next } = await openPair();
    const statements = countStatements(reader.database.pool);
    for (let n = 1; n <= 20; n++) await next(`${n}`);
    expect(reader.traffic.received).toBeGreaterThanOrEqual(20);
    // A notification of another host's comes after those of the writer, because they are sent in turn.
    const elsewhere = await fixture.openInstance("elsewhere");
    const woken = vi.fn();
    reader.database.onWake(woken);
    writer.database.tellReleased();
    await eventually(() => expect(woken).toHaveBeenCalledWith({ kind: "released" }));
    expect(statements).toEqual([]);
    expect(writer.traffic.undelivered).toBe(0);
    // The thread is known there, and goes on by notification.
    const tail = elsewhere.log.tail(thread, undefined)[Symbol.asyncIterator]();
    expect(await take(tail, 21)).toHaveLength(21);
    const arriving = take(tail, 1);
    await next("21");
    expect(textsOf(await arriving)).toEqual(["21"]);
    expect(elsewhere.traffic.received).toBe(0);
  });

  it("lets a process that starts later read what it could not hear", async () => {
    const { writer, reader, thread, next } = await openPair();
    const late = await fixture.openInstance();
    const tail = late.log.tail(thread, undefined)[Symbol.asyncIterator]();
    for (const text of ["1", "2", "3"]) await next(text);
    expect(textsOf(await take(tail, 4))).toEqual(["0", "1", "2", "3"]);
    await connected(writer, reader, late);
    const { received } = late.traffic;
    const arriving = take(tail, 1);
    await next("4");
    expect(textsOf(await arriving)).toEqual(["4"]);
    expect(late.traffic.received).toBe(received + 1);
  });

  it("goes on without a process that has left", async () => {
    const third = await fixture.openInstance();
    const { writer, reader, next } = await openPair();
    await connected(writer, reader, third);
    await fixture.closeInstance(third);
    for (const text of ["1", "2", "3"]) expect(await next(text)).toBeLessThan(1_000);
    await connected(writer, reader);
    const { undelivered } = writer.traffic;
    await next("4");
    expect(writer.traffic.undelivered).toBe(undelivered);
  });

  it("sends nothing to a process that does not answer, and tells all by the database", async (context) => {
    const { writer, reader, next } = await openPair();
    await joinStalled(context, { isSilent: true });
    const tellOthers = vi.spyOn(writer.database, "tellOthers");
    for (const text of ["1", "2", "3"]) expect(await next(text)).toBeLessThan(1_000);
    await eventually(() => expect(tellOthers).toHaveBeenCalled());
    expect(reader.bus.isConnected()).toBe(false);
  });

  it("gives up a process that takes no more messages, and holds up no other", async (context) => {
    const { writer, thread, tail, next } = await openPair();
    const { greeted } = await joinStalled(context);
    await eventually(() => expect(greeted).toHaveLength(2));
    const large = "x".repeat(300_000);
    for (let n = 1; n <= 4; n++) {
      await append(writer, thread, `${n}${large}`);
      expect(textsOf(await take(tail, 1))).toEqual([`${n}${large}`]);
    }
    await eventually(() => expect(writer.traffic.undelivered).toBeGreaterThan(0));
    expect(await next("5")).toBeLessThan(1_000);
  });
});
