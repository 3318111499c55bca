import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import {
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { createModel } from "@throughline/langgraph-models";
import { z } from "zod";
import type { GraphDeps } from "../shared.js";
import {
  EXPERIENCES,
  FLIGHTS,
  HOTELS,
  matchOption,
  RECOMMENDED_FLIGHT,
  RECOMMENDED_HOTEL,
} from "./listings.js";
import { experiencesScript } from "./script.js";
import { type Experience, type Flight, type Hotel, itineraryValue } from "./travel-state.js";

const FlightsState = new StateSchema({
  messages: MessagesValue,
  origin: z.string(),
  destination: z.string(),
  itinerary: itineraryValue,
  /** The last answer that matched no flight, as it is quoted back to the person. */
  rejected: z.string().nullable().default(null),
});
const FlightsOutput = new StateSchema({ messages: MessagesValue, itinerary: itineraryValue });

const airlineOf = (flight: Flight): string => flight.airline;

function flightRequest(state: typeof FlightsState.State): ChoiceRequest<Flight> {
  const question =
    `Found ${FLIGHTS.length} flights from ${state.origin} to ${state.destination}. ` +
    `I recommend ${RECOMMENDED_FLIGHT.airline}: it is the cheaper and the shorter one.`;
  return {
    message: withObjection(question, state.rejected, FLIGHTS.map(airlineOf)),
    options: FLIGHTS,
    recommendation: RECOMMENDED_FLIGHT,
    agent: "flights",
  };
}

/** Nothing happens before `interrupt()`: the node runs again from its top when the answer comes. */
function chooseFlight(state: typeof FlightsState.State): typeof FlightsState.Update {
  const answer: unknown = interrupt(flightRequest(state));
  const flight = matchOption(FLIGHTS, airlineOf, answer);
  if (flight === undefined) return { rejected: quoteAnswer(answer) };
  const text = `Your seat is with ${flight.airline}, ${flight.departure} to ${flight.arrival}, ${flight.price}.`;
  return {
    itinerary: { flight },
    messages: [new AIMessage({ id: randomUUID(), content: text })],
    rejected: null,
  };
}

/**
 * Asks which flight to take. A wrong answer leads to a new task of the same node, not to a second `interrupt()` in it:
 * LangGraph derives an interrupt's id from its task, and the id distinguishes one question from the next.
 */
export function createFlightsAgent() {
  return new StateGraph(FlightsState, { output: FlightsOutput })
    .addNode("choose_flight", chooseFlight)
    .addEdge(START, "choose_flight")
    .addConditionalEdges("choose_flight", (state) => (state.rejected === null ? END : "choose_flight"), [
      "choose_flight",
      END,
    ])
    .compile({ name: "flights_agent" });
}

const HotelsState = new StateSchema({
  messages: MessagesValue,
  destination: z.string(),
  itinerary: itineraryValue,
  /** The last answer that matched no hotel, as it is quoted back to the person. */
  rejected: z.string().nullable().default(null),
});
const HotelsOutput = new StateSchema({ messages: MessagesValue, itinerary: itineraryValue });

const nameOf = (hotel: Hotel): string => hotel.name;

function hotelRequest(state: typeof HotelsState.State): ChoiceRequest<Hotel> {
  const question =
    `Found ${HOTELS.length} hotels in ${state.destination}. ` +
    `I recommend ${RECOMMENDED_HOTEL.name}: a good rating, a fair price, and you can walk from there.`;
  return {
    message: withObjection(question, state.rejected, HOTELS.map(nameOf)),
    options: HOTELS,
    recommendation: RECOMMENDED_HOTEL,
    agent: "hotels",
  };
}

/** Nothing happens before `interrupt()`: the node runs again from its top when the answer comes. */
function chooseHotel(state: typeof HotelsState.State): typeof HotelsState.Update {
  const answer: unknown = interrupt(hotelRequest(state));
  const hotel = matchOption(HOTELS, nameOf, answer);
  if (hotel === undefined) return { rejected: quoteAnswer(answer) };
  const text = `Your room is at ${hotel.name}, ${hotel.location}, ${hotel.price_per_night}.`;
  return {
    itinerary: { hotel },
    messages: [new AIMessage({ id: randomUUID(), content: text })],
    rejected: null,
  };
}

/**
 * Asks which hotel to take. A wrong answer leads to a new task of the same node, not to a second `interrupt()` in it:
 * LangGraph derives an interrupt's id from its task, and the id distinguishes one question from the next.
 */
export function createHotelsAgent() {
  return new StateGraph(HotelsState, { output: HotelsOutput })
    .addNode("choose_hotel", chooseHotel)
    .addEdge(START, "choose_hotel")
    .addConditionalEdges("choose_hotel", (state) => (state.rejected === null ? END : "choose_hotel"), [
      "choose_hotel",
      END,
    ])
    .compile({ name: "hotels_agent" });
}

const ExperiencesState = new StateSchema({
  messages: MessagesValue,
  destination: z.string(),
  itinerary: itineraryValue,
});
const ExperiencesOutput = new StateSchema({ messages: MessagesValue, itinerary: itineraryValue });

const PER_KIND = 2;
const INSTRUCTIONS =
  "You present restaurants and activities to a traveller. Name only the places you are given, in one short paragraph.";

/** Ranks experiences near the hotel first, then those worth a ride. */
function pickExperiences(neighbourhood: string | undefined): readonly Experience[] {
  const near = EXPERIENCES.filter(({ location }) => location === neighbourhood);
  const far = EXPERIENCES.filter(({ location }) => location !== neighbourhood).reverse();
  const ranked = [...near, ...far];
  return (["restaurant", "activity"] as const).flatMap((kind) =>
    ranked.filter((experience) => experience.kind === kind).slice(0, PER_KIND),
  );
}

function pick(state: typeof ExperiencesState.State): typeof ExperiencesState.Update {
  return { itinerary: { experiences: [...pickExperiences(state.itinerary.hotel?.location)] } };
}

/** Picks by rule and has the model describe the picks, so that no model can put an invented place into the itinerary. */
export function createExperiencesAgent(deps: GraphDeps) {
  const describe = async (
    state: typeof ExperiencesState.State,
    config: LangGraphRunnableConfig,
  ): Promise<typeof ExperiencesState.Update> => {
    const picks = state.itinerary.experiences ?? [];
    const model = await createModel(config, { keys: deps.keys, offline: experiencesScript(picks) });
    const facts = picks.map(
      ({ name, kind, location, description }) => `- ${name} (${kind}, ${location}): ${description}`,
    );
    const prompt = `Present these places in ${state.destination}:\n${facts.join("\n")}`;
    return {
      messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), new HumanMessage(prompt)], config)],
    };
  };
  return new StateGraph({ state: ExperiencesState, output: ExperiencesOutput })
    .addNode("pick_experiences", pick)
    .addNode("describe_experiences", describe)
    .addEdge(START, "pick_experiences")
    .addEdge("pick_experiences", "describe_experiences")
    .addEdge("describe_experiences", END)
    .compile({ name: "experiences_agent" });
}
/** The value of this graph's interrupts: a question with everything needed to show it and to answer it. */
interface ChoiceRequest<Option> {
  readonly message: string;
  readonly options: readonly Option[];
  readonly recommendation: Option;
  readonly agent: "flights" | "hotels";
}

const LONGEST_QUOTE = 120;

/** Prefixes the question with what was wrong with the last answer. */
function withObjection(question: string, rejected: string | null, names: readonly string[]): string {
  if (rejected === null) return question;
  return `${rejected} is none of the options. Choose one of: ${names.join(", ")}.\n\n${question}`;
}

function quoteAnswer(answer: unknown): string {
  const text = typeof answer === "string" ? answer : (JSON.stringify(answer) ?? "An empty answer");
  return `"${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text}"`;
}
