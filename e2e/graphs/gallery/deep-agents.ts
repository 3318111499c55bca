import { createDeepAgent } from "deepagents";
import { inTurn, ScriptedModel } from "./scripted-model.js";

export const deepAgent = createDeepAgent({
  model: new ScriptedModel(
    inTurn(
      {
        calls: [
          { name: "write_file", args: { file_path: "/report.md", content: "# Report" }, id: "call_file" },
        ],
      },
      { calls: [{ name: "read_file", args: { file_path: "/report.md" }, id: "call_read" }] },
      { text: "The report is written." },
    ),
  ),
});

export const deepSubagents = createDeepAgent({
  model: new ScriptedModel(
    inTurn(
      {
        calls: ["north", "south"].map((side) => ({
          name: "task",
          args: { description: `Look ${side}.`, subagent_type: "scout" },
          id: `call_${side}`,
        })),
      },
      { text: "Both scouts are back." },
    ),
  ),
  subagents: [
    {
      name: "scout",
      description: "Looks around.",
      systemPrompt: "Look around.",
      model: new ScriptedModel((messages) => ({ text: `Seen: ${messages.at(-1)?.text}` })),
    },
  ],
});
