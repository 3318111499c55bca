import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { resumePrelude, snapshotEvents } from "../follow.js";
import { randomRuns } from "../testing/random-events.js";
import { stockClient, VERSIONS } from "../testing/stock-client.js";
import { applyEvent, conversationCodec, emptyConversation } from "./conversation.js";

const cutRuns = randomRuns.chain((events) =>
  fc.record({ events: fc.constant(events), cut: fc.nat({ max: events.length }) }),
);

afterEach(() => void vi.restoreAllMocks());
beforeEach(() => {
  // Stock clients warn of patches that don't apply, which random runs are full of.
  vi.spyOn(console, "warn").mockImplementation(() => {});
});

describe.each(VERSIONS)("a conversation, by the client of AG-UI %s", (version) => {
  it("is what the client shows", async () => {
    await fc.assert(
      fc.asyncProperty(randomRuns, async (events) => {
        const client = stockClient(version);
        await client.take(events);
        const { messages, state } = events.reduce(applyEvent, emptyConversation);
        expect({ messages, state }).toEqual(client.shows());
      }),
      { numRuns: 40 },
    );
  });

  it("is shown alike to a client that joins anywhere, holds a part, or reads on from its cursor", async () => {
    await fc.assert(
      fc.asyncProperty(cutRuns, async ({ events, cut }) => {
        const [before, after] = [events.slice(0, cut), events.slice(cut)];
        const stayed = stockClient(version);
        await stayed.take(events);
        const at = before.reduce(applyEvent, emptyConversation);

        const joined = stockClient(version);
        await joined.take([...snapshotEvents("t", at), ...after]);
        expect(joined.shows()).toEqual(stayed.shows());

        const again = stockClient(version);
        await again.take(before);
        await again.take([...snapshotEvents("t", at), ...after]);
        expect(again.shows()).toEqual(stayed.shows());

        const resumed = stockClient(version);
        await resumed.take(before);
        await resumed.take([...resumePrelude("t", at), ...after]);
        expect(resumed.shows()).toEqual(stayed.shows());
      }),
      { numRuns: 40 },
    );
  });
});

it("is the same after a snapshot of it was written and read", () => {
  fc.assert(
    fc.property(randomRuns, (events) => {
      const conversation = events.reduce(applyEvent, emptyConversation);
      const { encode, decode, version } = conversationCodec;
      expect(decode(JSON.parse(JSON.stringify(encode(conversation))), version)).toEqual(conversation);
    }),
    { numRuns: 30 },
  );
});
