import type { ThreadMessage } from "@throughline/agent-client";
import { expect, it } from "vitest";
import { threadMarkdown } from "./export-thread";

const say = (message: Partial<ThreadMessage> & Pick<ThreadMessage, "role">): ThreadMessage => ({
  id: "m",
  content: "",
  ...message,
});

it("writes a thread as a document: each speaker once, tools with what they were given and gave", () => {
  const messages = [
    say({ role: "system", content: "Be kind." }),
    say({ role: "user", content: "Fly me home" }),
    say({
      role: "assistant",
      content: "Looking.",
      toolCalls: [{ id: "t1", name: "search", args: '{"to":"AMS"}' }],
    }),
    say({ role: "tool", toolCallId: "t1", content: "```\nKLM\n```" }),
    say({ role: "assistant", content: "**KLM** flies." }),
    say({ role: "assistant", content: "inner", subagentRunId: "s" }),
    say({
      role: "user",
      content: [
        { type: "text", text: "And this?" },
        { type: "binary", filename: "map.png" },
      ],
    }),
  ];
  expect(threadMarkdown({ title: "Home", agentName: "Travel" }, messages)).toBe(`# Home

## You

Fly me home

## Travel

Looking.

**Tool \`search\`**

\`\`\`json
{"to":"AMS"}
\`\`\`

\`\`\`\`
\`\`\`
KLM
\`\`\`
\`\`\`\`

**KLM** flies.

## You

And this?

*File: map.png*
`);
});
