import { SystemMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { createModel, type OfflineScript } from "@throughline/langgraph-models";
import type { GraphDeps } from "../shared.js";
import type { Report, SentinelStateValue, SentinelUpdate } from "./sentinel-state.js";

const LOUD = 75;

export function reportScript(cycle: number, readings: Report["readings"]): OfflineScript {
  const loud = readings.filter((reading) => reading.value >= LOUD).map((reading) => reading.name);
  const listed = readings.map(({ name, value }) => `${name} at ${value}`).join(", ") || "nothing to look at";
  const verdict = loud.length > 0 ? `Look at ${loud.join(" and ")}.` : "Nothing needs you.";
  return () => [{ kind: "text", text: `Cycle ${cycle}: ${listed}. ${verdict}` }];
}

function statusScript(state: SentinelStateValue): OfflineScript {
  return () => [{ kind: "text", text: statusSentence(state) }];
}

/** The facts of the state in words; the model gets them as its instructions, the offline model streams them. */
function statusSentence({ lifecycle, settings, cycleCount, lastReport }: SentinelStateValue): string {
  const watching = settings.watch.join(", ") || "nothing";
  const since = `${cycleCount} ${cycleCount === 1 ? "cycle" : "cycles"} since the hire`;
  const last = lastReport === null ? "There is no report yet." : `Last report: ${lastReport.text}`;
  switch (lifecycle) {
    case "idle":
      return `I am not hired yet. Once hired, I will watch ${watching}.`;
    case "hired":
      return `I am on duty and watch ${watching} every ${settings.cycleSeconds} s; ${since}. ${last}`;
    case "fired":
      return `I was let go after ${cycleCount} ${cycleCount === 1 ? "cycle" : "cycles"}. ${last}`;
  }
}

/** Cycles fill the history with reports; the facts are in the instructions, so a short tail is enough to talk. */
const REMEMBERED_MESSAGES = 8;

export function createStatus(deps: GraphDeps) {
  return async (state: SentinelStateValue, config: LangGraphRunnableConfig): Promise<SentinelUpdate> => {
    const model = await createModel(config, { keys: deps.keys, offline: statusScript(state) });
    const facts = `You are a sentinel that works in the background. Answer from these facts: ${statusSentence(state)}`;
    const prompt = [new SystemMessage(facts), ...state.messages.slice(-REMEMBERED_MESSAGES)];
    return { messages: [await model.invoke(prompt, config)] };
  };
}
