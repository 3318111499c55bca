import { z } from "zod";
import type { GraphDefinition } from "../graph-definition.js";
import { conversationInputSchema, messageSchema } from "../message-schema.js";
import { createTravelGraph } from "./graph.js";
import { experienceSchema, flightSchema, hotelSchema, itinerarySchema } from "./travel-state.js";

const messages = z.array(messageSchema);

export const travelDefinition: GraphDefinition = {
  graphName: "travel",
  name: "Travel planner",
  description: "Plans a trip with three agents, and asks you which flight and which hotel to take.",
  capabilities: ["chat", "tools", "interrupts", "subgraphs"],
  commands: [],
  suggestions: ["Plan a trip from Amsterdam to San Francisco"],
  inputSchema: conversationInputSchema,
  outputSchema: z.object({
    messages,
    origin: z.string(),
    destination: z.string(),
    itinerary: itinerarySchema,
  }),
  subgraphSchemas: {
    flights_agent: z.object({ messages, itinerary: itinerarySchema.extend({ flight: flightSchema }) }),
    hotels_agent: z.object({ messages, itinerary: itinerarySchema.extend({ hotel: hotelSchema }) }),
    experiences_agent: z.object({
      messages,
      itinerary: itinerarySchema.extend({ experiences: z.array(experienceSchema).min(1) }),
    }),
  },
  create: createTravelGraph,
};
