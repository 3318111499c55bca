import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import {
  END,
  type LangGraphRunnableConfig,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { createModel } from "@throughline/langgraph-models";
import { z } from "zod";
import type { GraphDeps } from "../graph-definition.js";
import { EXPERIENCES } from "./listings.js";
import { experiencesScript } from "./script.js";
import { type Experience, itineraryValue } from "./travel-state.js";

const ExperiencesState = new StateSchema({
  messages: MessagesValue,
  destination: z.string(),
  itinerary: itineraryValue,
});
const ExperiencesOutput = new StateSchema({ messages: MessagesValue, itinerary: itineraryValue });

const PER_KIND = 2;
const INSTRUCTIONS =
  "You present restaurants and activities to a traveller. Name only the places you are given, in one short paragraph.";

/** What lies near the hotel comes first, then what is worth a ride. */
function pickExperiences(neighbourhood: string | undefined): readonly Experience[] {
  const near = EXPERIENCES.filter((place) => place.location === neighbourhood);
  const far = EXPERIENCES.filter((place) => place.location !== neighbourhood).reverse();
  const ranked = [...near, ...far];
  return (["restaurant", "activity"] as const).flatMap((kind) =>
    ranked.filter((place) => place.kind === kind).slice(0, PER_KIND),
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
      (place) => `- ${place.name} (${place.kind}, ${place.location}): ${place.description}`,
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
