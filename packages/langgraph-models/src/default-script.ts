import type { OfflineScript } from "./offline-script.js";

/** What the offline model says where a graph brings no script of its own. */
export const defaultScript: OfflineScript = ({ lastUserText }) => {
  const topic = lastUserText.replace(/\s+/g, " ").trim();
  const shown = topic.length > 80 ? `${topic.slice(0, 79)}…` : topic;
  const about = shown === "" ? "Hello." : `You wrote: “${shown}”.`;
  return [
    {
      kind: "text",
      text: `${about} I am the offline model: I answer from a script, without a network or a key. Set LITELLM_BASE_URL and LITELLM_API_KEY to talk to a real model instead.`,
    },
  ];
};
