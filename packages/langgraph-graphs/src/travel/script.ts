import { HumanMessage } from "@langchain/core/messages";
import type { OfflineScript } from "@throughline/langgraph-models";
import { otherPlaces } from "./listings.js";
import { DELEGATE_TOOL, stagesOfThisTurn, TRAVEL_STAGES, type TravelStage } from "./travel-stage.js";
import type { Experience, Itinerary, TravelStateValue } from "./travel-state.js";

const START_OVER = /\b(start over|start again|plan (it )?again|replan|new (trip|plan))\b/i;
const CHANGE = /\b(change|another|different|other|rebook|switch)\b/i;
const WORDS_OF_STAGE: Readonly<Record<TravelStage, RegExp>> = {
  flights: /\b(flights?|airlines?|seats?)\b/i,
  hotels: /\b(hotels?|rooms?)\b/i,
  experiences: /\b(experiences?|restaurants?|activit(y|ies)|things to do)\b/i,
};

/** Flights, hotels, experiences, then a summary. A finished plan is only touched again when the person asks for it. */
export function supervisorScript({
  itinerary,
  messages,
}: Pick<TravelStateValue, "itinerary" | "messages">): OfflineScript {
  return () => {
    const request = messages.findLast((message) => HumanMessage.isInstance(message))?.text ?? "";
    const done = stagesOfThisTurn(messages);
    const unknown = otherPlaces(request);
    if (done.length === 0 && unknown.length > 0) return [{ kind: "text", text: onlyOneTrip(unknown) }];
    const next = wantedStages(request, itinerary).find((stage) => !done.includes(stage));
    if (next !== undefined) return [{ kind: "toolCall", name: DELEGATE_TOOL, args: { agent: next } }];
    return [{ kind: "text", text: done.length > 0 ? summary(itinerary) : answer(request, itinerary) }];
  };
}

export function experiencesScript(picks: readonly Experience[]): OfflineScript {
  const list = (kind: Experience["kind"]) =>
    picks
      .filter((experience) => experience.kind === kind)
      .map(({ name, location, description }) => `${name} in ${location} (${description})`)
      .join(", and ");
  return () => [
    { kind: "text", text: `For dinner I picked ${list("restaurant")}. For the day: ${list("activity")}.` },
  ];
}

function wantedStages(request: string, itinerary: Itinerary): readonly TravelStage[] {
  if (START_OVER.test(request)) return TRAVEL_STAGES;
  const missing: Readonly<Record<TravelStage, boolean>> = {
    flights: itinerary.flight === undefined,
    hotels: itinerary.hotel === undefined,
    experiences: itinerary.experiences === undefined,
  };
  return TRAVEL_STAGES.filter(
    (stage) => missing[stage] || (CHANGE.test(request) && WORDS_OF_STAGE[stage].test(request)),
  );
}

function onlyOneTrip(places: readonly string[]): string {
  return (
    `I have nothing for ${places.join(" or ")}: no model is connected, so I answer from a script, and it knows one trip, ` +
    "from Amsterdam to San Francisco. Ask me for that one, or connect a model by LITELLM_BASE_URL and LITELLM_API_KEY."
  );
}

function summary(itinerary: Itinerary): string {
  return `Your trip is planned. ${facts(itinerary).join(" ")} Have a good journey!`;
}

function answer(request: string, itinerary: Itinerary): string {
  const asked = TRAVEL_STAGES.filter((stage) => WORDS_OF_STAGE[stage].test(request));
  const sentences = asked.length > 0 ? asked.map((stage) => factOf(stage, itinerary)) : facts(itinerary);
  return `${sentences.join(" ")} Tell me if you want to change a part, or to start over.`;
}

function facts(itinerary: Itinerary): readonly string[] {
  return TRAVEL_STAGES.map((stage) => factOf(stage, itinerary));
}

function factOf(stage: TravelStage, { flight, hotel, experiences = [] }: Itinerary): string {
  switch (stage) {
    case "flights":
      return flight
        ? `You fly with ${flight.airline} from ${flight.departure} to ${flight.arrival} (${flight.duration}, ${flight.price}).`
        : "No flight is chosen yet.";
    case "hotels":
      return hotel
        ? `You sleep at ${hotel.name}, ${hotel.location} (${hotel.price_per_night}).`
        : "No hotel is chosen yet.";
    case "experiences":
      return experiences.length > 0
        ? `On your list: ${experiences.map(({ name }) => name).join(", ")}.`
        : "Nothing to do is picked yet.";
  }
}
