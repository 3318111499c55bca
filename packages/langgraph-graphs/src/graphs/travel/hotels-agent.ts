import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { type ChoiceRequest, quoteAnswer, withObjection } from "./choice-request.js";
import { HOTELS, RECOMMENDED_HOTEL } from "./listings.js";
import { matchOption } from "./match-option.js";
import { type Hotel, itineraryValue } from "./travel-state.js";

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
 * LangGraph derives an interrupt's id from its task, and the id tells one question from the next.
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
