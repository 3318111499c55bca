import type { GraphFinal } from "@throughline/ai-core";
import { expect, it } from "vitest";
import type { GraphProvider } from "../provider.js";
import { openThread } from "./thread-session.js";

function idsOf(final: GraphFinal): Readonly<Record<string, string>> {
  return Object.fromEntries(final.interrupts.map(({ node, interrupt_id }) => [String(node), interrupt_id]));
}

function onlyId(final: GraphFinal): string {
  expect(final.status).toBe("interrupted");
  expect(final.interrupts).toHaveLength(1);
  return final.interrupts[0]?.interrupt_id ?? "";
}

const questionOf = (final: GraphFinal) => final.interrupts[0]?.value;
const lastText = (final: GraphFinal) => final.messages?.at(-1)?.content;

export function describeInterrupts(provider: () => GraphProvider): void {
  it("ends as interrupted with the question and who asks it, and goes on with the answer", async () => {
    const session = openThread(provider(), "asker");
    const asked = (await session.say("one")).final;
    expect(asked).toMatchObject({
      ok: true,
      status: "interrupted",
      interrupts: [{ value: { question: "one?" }, node: "one", ns: [expect.stringMatching(/^one:/)] }],
    });
    const done = (await session.answer({ [onlyId(asked)]: { choice: 3 } })).final;
    expect(done).toMatchObject({ status: "success", interrupts: [], state: { answers: ['{"choice":3}'] } });
    expect(lastText(done)).toBe('{"choice":3}');
  });

  it.each([
    ["false", false],
    ["zero", 0],
    ["an empty text", ""],
  ])("takes %s for an answer", async (_, answer) => {
    const session = openThread(provider(), "asker");
    const id = onlyId((await session.say("one")).final);
    const { final } = await session.answer({ [id]: answer });
    expect(final.status).toBe("success");
    expect(lastText(final)).toBe(JSON.stringify(answer));
  });

  it("asks two questions at once and takes both answers at once", async () => {
    const session = openThread(provider(), "asker");
    const asked = (await session.say("two")).final;
    const { one = "", other = "" } = idsOf(asked);
    const done = (await session.answer({ [one]: "A", [other]: "B" })).final;
    expect(done.status).toBe("success");
    expect(done.state).toMatchObject({ answers: ['"A"', '"B"'] });
  });

  it("keeps asking the second of two questions when only the first was answered", async () => {
    const session = openThread(provider(), "asker");
    const { one = "", other = "" } = idsOf((await session.say("two")).final);
    const between = (await session.answer({ [one]: "A" })).final;
    expect(between).toMatchObject({ status: "interrupted", interrupts: [{ interrupt_id: other }] });
    const done = (await session.answer({ [other]: "B" })).final;
    expect(done).toMatchObject({ status: "success", state: { answers: ['"A"', '"B"'] } });
  });

  it("names the node inside a subgraph that asks", async () => {
    const session = openThread(provider(), "asker");
    const asked = (await session.say("nested")).final;
    expect(asked.interrupts).toEqual([
      {
        interrupt_id: onlyId(asked),
        value: { question: "nested?" },
        node: "inside",
        ns: [expect.stringMatching(/^nested:/), expect.stringMatching(/^inside:/)],
      },
    ]);
    const done = (await session.answer({ [onlyId(asked)]: "deep" })).final;
    expect(done).toMatchObject({ status: "success", state: { answers: ['"deep"'] } });
  });

  it("waits for the second question of one node, though it bears the id of the first", async () => {
    const session = openThread(provider(), "asker");
    const first = (await session.say("twice")).final;
    expect(questionOf(first)).toEqual({ question: "first?" });
    const second = (await session.answer({ [onlyId(first)]: "yes" })).final;
    expect(second.status).toBe("interrupted");
    expect(questionOf(second)).toEqual({ question: "second?" });
    expect((await provider().getState(session.thread))?.interrupts).toHaveLength(1);
    const done = (await session.answer({ [onlyId(second)]: "yes" })).final;
    expect(done).toMatchObject({ status: "success", state: { answers: ['"yes"', '"yes"'] } });
  });

  it("plans a trip over two questions that its subgraphs ask", async () => {
    const session = openThread(provider(), "travel");
    const flights = (await session.say("Plan my trip")).final;
    expect(questionOf(flights)).toMatchObject({ agent: "flights" });
    const hotels = (await session.answer({ [onlyId(flights)]: "KLM" })).final;
    expect(questionOf(hotels)).toMatchObject({ agent: "hotels" });
    const done = (await session.answer({ [onlyId(hotels)]: "Hotel Zoe" })).final;
    expect(done.status).toBe("success");
    expect(done.state).toMatchObject({
      itinerary: { flight: { airline: "KLM" }, hotel: { name: "Hotel Zoe" } },
    });
  });

  it("shows an open question to whoever reads the state", async () => {
    const session = openThread(provider(), "asker");
    const { final } = await session.say("nested");
    expect((await provider().getState(session.thread))?.interrupts).toEqual(final.interrupts);
  });

  it("tells the schema of the answer that the graph gave beside its question", async () => {
    const session = openThread(provider(), "asker");
    const { final, chunks } = await session.say("schema");
    const schema = { type: "object", properties: { size: { enum: ["s", "m"] } }, required: ["size"] };
    expect(final.interrupts).toMatchObject([{ value: { question: "schema?" }, response_schema: schema }]);
    expect((await provider().getState(session.thread))?.interrupts).toEqual(final.interrupts);
    expect(JSON.stringify(chunks.filter(({ mode }) => mode === "updates"))).toContain("response_schema");
  });

  it.each([
    ["of the graph itself", "picky"],
    ["of a subgraph", "picky nested"],
  ])("asks again when a node %s failed on its answer, as often as it takes", async (_, how) => {
    const session = openThread(provider(), "asker");
    let asked = (await session.say(how)).final;
    for (const _ of ["once", "twice"]) {
      const failed = (await session.answer({ [onlyId(asked)]: "wrong" })).final;
      expect(failed).toMatchObject({ status: "error", interrupts: [] });
      expect((await provider().getState(session.thread))?.interrupts).toEqual([]);
      asked = (await session.answer({})).final;
      expect(questionOf(asked)).toEqual({ question: "pick?" });
    }
    const done = (await session.answer({ [onlyId(asked)]: "right" })).final;
    expect(done).toMatchObject({ status: "success", state: { answers: ['"right"'] } });
  });

  it("keeps the other question open when the run that answers one of two fails", async () => {
    const session = openThread(provider(), "asker");
    const { pick = "", other = "" } = idsOf((await session.say("picky two")).final);
    const failed = (await session.answer({ [pick]: "wrong" })).final;
    expect(failed).toMatchObject({ status: "error", interrupts: [{ interrupt_id: other }] });
    expect((await provider().getState(session.thread))?.interrupts).toMatchObject([{ interrupt_id: other }]);
    const again = idsOf((await session.answer({})).final);
    expect(Object.keys(again).toSorted()).toEqual(["other", "pick"]);
    const answers = { [again.pick ?? ""]: "A", [again.other ?? ""]: "B" };
    const done = (await session.answer(answers)).final;
    expect(done).toMatchObject({ status: "success", interrupts: [] });
    expect(done.state?.answers).toEqual(expect.arrayContaining(['"A"', '"B"']));
  });

  it("refuses to ask again what still waits for its answer", async () => {
    const session = openThread(provider(), "asker");
    const asked = (await session.say("one")).final;
    expect((await session.answer({})).final).toMatchObject({ status: "error", error: { code: "conflict" } });
    expect((await provider().getState(session.thread))?.interrupts).toEqual(asked.interrupts);
  });

  it("refuses an answer to a question that is not open, and the open one stays", async () => {
    const session = openThread(provider(), "asker");
    const asked = (await session.say("one")).final;
    const refused = (await session.answer({ "0123456789abcdef0123456789abcdef": "A" })).final;
    expect(refused).toMatchObject({ ok: false, status: "error", error: { code: "conflict" } });
    expect((await provider().getState(session.thread))?.interrupts).toEqual(asked.interrupts);
  });
}
