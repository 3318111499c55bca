import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { type ChoiceRequest, quoteAnswer, withObjection } from "./choice-request.js";
import { FLIGHTS, RECOMMENDED_FLIGHT } from "./listings.js";
import { matchOption } from "./match-option.js";
import { type Flight, itineraryValue } from "./travel-state.js";

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
 * LangGraph derives an interrupt's id from its task, and the id tells one question from the next.
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
