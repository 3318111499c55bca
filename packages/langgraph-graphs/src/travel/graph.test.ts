import { Command, isInterrupted, MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { messageSchema, type RunnableGraph } from "../shared.js";

import { travelDefinition } from "./graph.js";
import { FLIGHTS, HOTELS, RECOMMENDED_FLIGHT, RECOMMENDED_HOTEL } from "./listings.js";
import { itinerarySchema } from "./travel-state.js";

const [klm, united] = FLIGHTS;
const [zephyr] = HOTELS;
const config = { configurable: { thread_id: "trip", offline: { paceMs: 0 } } };
const stateSchema = z.object({ messages: z.array(messageSchema), itinerary: itinerarySchema });
const chunkSchema = z.tuple([
  z.object({ type: z.string(), content: z.string() }),
  z.object({ langgraph_node: z.string() }),
]);
const requestSchema = z.object({ message: z.string(), agent: z.string() });

let graph: RunnableGraph;

beforeEach(() => {
  const keys = { resolveKey: () => Promise.reject(new Error("The offline model needs no key.")) };
  graph = travelDefinition.create({ keys, checkpointer: new MemorySaver() });
});

const say = (content: string) => graph.invoke({ messages: [{ role: "user", content }] }, config);
const answerWith = (resume: unknown) => new Command({ resume });
const answer = (resume: unknown) => graph.invoke(answerWith(resume), config);
const lastText = (state: unknown) => stateSchema.parse(state).messages.at(-1)?.content;

function question(result: unknown): { readonly id: string | undefined; readonly value: unknown } {
  if (!isInterrupted(result)) throw new Error("The graph did not ask.");
  const [asked] = result.__interrupt__;
  return { id: asked?.id, value: asked?.value };
}

async function planTrip(): Promise<unknown> {
  await say("Plan my trip");
  await answer(klm);
  return answer(zephyr);
}

describe("the travel graph", () => {
  it("asks for a flight, then for a hotel, and ends with the whole itinerary", async () => {
    const flights = question(await say("Plan my trip"));
    expect(flights.value).toEqual({
      message: expect.stringContaining("Amsterdam to San Francisco"),
      options: FLIGHTS,
      recommendation: RECOMMENDED_FLIGHT,
      agent: "flights",
    });
    const hotels = question(await answer(klm));
    expect(hotels.value).toEqual({
      message: expect.stringContaining("Hotel Zoe"),
      options: HOTELS,
      recommendation: RECOMMENDED_HOTEL,
      agent: "hotels",
    });
    const final = await answer(zephyr);
    expect(travelDefinition.outputSchema.parse(final)).toMatchObject({
      origin: "Amsterdam",
      destination: "San Francisco",
      itinerary: { flight: klm, hotel: zephyr },
    });
    expect(stateSchema.parse(final).itinerary.experiences?.map((place) => place.location)).toContain(
      zephyr?.location,
    );
    expect(lastText(final)).toContain("Your trip is planned");
  });

  it("takes the answer as JSON text, which is how stock AG-UI clients send it", async () => {
    await say("Plan my trip");
    await answer(JSON.stringify(united));
    const final = await answer("Hotel Zephyr");
    expect(stateSchema.parse(final).itinerary).toMatchObject({ flight: united, hotel: zephyr });
  });

  it("asks again, under a new interrupt id, when an answer is none of the options, and loses nothing", async () => {
    await say("Plan my trip");
    const hotels = question(await answer(klm));
    const again = question(await answer("Hotel California"));
    expect(again.id).not.toBe(hotels.id);
    expect(again.value).toMatchObject({ options: HOTELS, agent: "hotels" });
    expect(requestSchema.parse(again.value).message).toContain('"Hotel California" is none of the options');
    const third = question(await answer({ name: "Hotel Zoe", price_per_night: "$1/night" }));
    expect(requestSchema.parse(third.value).message).toContain("$1/night");
    expect(new Set([hotels.id, again.id, third.id]).size).toBe(3);
    const final = await answer(zephyr);
    expect(stateSchema.parse(final).itinerary).toMatchObject({ flight: klm, hotel: zephyr });
  });

  it("has the chosen flight in its state while it waits for the hotel", async () => {
    await say("Plan my trip");
    await answer(klm);
    const waiting = await graph.getState(config);
    expect(waiting.next).toEqual(["hotels_agent"]);
    expect(stateSchema.parse(waiting.values).itinerary).toEqual({ flight: klm });
  });

  it("answers a further message from the finished plan and does not plan again", async () => {
    const planned = stateSchema.parse(await planTrip());
    const final = await say("Which hotel did I take?");
    expect(isInterrupted(final)).toBe(false);
    expect(lastText(final)).toContain("Hotel Zephyr");
    expect(stateSchema.parse(final).itinerary).toEqual(planned.itinerary);
    expect(stateSchema.parse(final).messages).toHaveLength(planned.messages.length + 2);
  });

  it("asks for one part again when the person wants that part changed", async () => {
    await planTrip();
    expect(question(await say("I want a different hotel")).value).toMatchObject({ agent: "hotels" });
    const final = await answer("Hotel Zoe");
    expect(stateSchema.parse(final).itinerary).toMatchObject({ flight: klm, hotel: { name: "Hotel Zoe" } });
  });

  it("plans everything anew when the person asks to start over", async () => {
    await planTrip();
    expect(question(await say("Let us start over")).value).toMatchObject({ agent: "flights" });
    expect(question(await answer(united)).value).toMatchObject({ agent: "hotels" });
    const final = await answer("Hotel Zoe");
    expect(stateSchema.parse(final).itinerary).toMatchObject({
      flight: united,
      hotel: { name: "Hotel Zoe" },
    });
  });

  it.each([
    ["Plan a trip from Berlin to Tokyo", "Berlin or Tokyo"],
    ["plan a trip from berlin to tokyo", "berlin or tokyo"],
    ["Berlin → Tokyo, please", "Berlin or Tokyo"],
    ["I want to go to New York", "New York"],
  ])("says that its script knows another trip when it is asked: %s", async (request, places) => {
    const final = await say(request);
    expect(isInterrupted(final)).toBe(false);
    expect(lastText(final)).toContain(`I have nothing for ${places}`);
    expect(lastText(final)).toContain("from Amsterdam to San Francisco");
    expect(question(await say("Plan a trip from Amsterdam to San Francisco")).value).toMatchObject({
      agent: "flights",
    });
  });

  it.each([
    "from Amsterdam to San Francisco",
    "Fly me to SF",
    "Take me to Fisherman's Wharf",
    "Help me to plan",
  ])("plans what it knows: %s", async (request) => {
    expect(question(await say(request)).value).toMatchObject({ agent: "flights" });
  });

  it("publishes keys that every subgraph's final state has", async () => {
    const finals = new Map<string, unknown>();
    const options = { ...config, streamMode: "updates" as const };
    const plan = { messages: [{ role: "user", content: "Plan my trip" }] };
    for (const input of [plan, answerWith(klm), answerWith(zephyr)]) {
      for await (const update of await graph.stream(input, options)) {
        for (const [node, state] of Object.entries(update)) finals.set(node, state);
      }
    }
    const published = Object.entries(travelDefinition.subgraphs ?? {});
    expect(published.map(([node]) => node)).toEqual(["flights_agent", "hotels_agent", "experiences_agent"]);
    for (const [node, { output }] of published) {
      expect(output).toEqual(["itinerary"]);
      expect(stateSchema.safeParse(finals.get(node)), node).toMatchObject({ success: true });
    }
    expect(finals.get("flights_agent")).toMatchObject({ itinerary: { flight: klm } });
    expect(finals.get("hotels_agent")).toMatchObject({ itinerary: { hotel: zephyr } });
  });

  it("leaves every tool call answered and every message with an id of its own", async () => {
    const { messages } = stateSchema.parse(await planTrip());
    const calls = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
    const results = messages.flatMap((message) => message.tool_call_id ?? []);
    expect(calls).toHaveLength(3);
    expect(results).toEqual(calls);
    const ids = messages.map((message) => message.id);
    expect(new Set(ids).size).toBe(messages.length);
    expect(ids).not.toContain(undefined);
  });

  it("streams the experiences and the summary as text, from the nodes that write them", async () => {
    await say("Plan my trip");
    await answer(klm);
    const textOf = new Map<string, string>();
    const options = { ...config, streamMode: "messages" as const, subgraphs: true };
    for await (const [, chunk] of await graph.stream(answerWith(zephyr), options)) {
      const [message, { langgraph_node: node }] = chunkSchema.parse(chunk);
      if (message.type === "ai") textOf.set(node, `${textOf.get(node) ?? ""}${message.content}`);
    }
    expect(textOf.get("describe_experiences")).toContain("Pier 39");
    expect(textOf.get("supervisor")).toContain("Your trip is planned");
  });
});
