import { useState } from "react";
import { useFrontendTool } from "../../index.js";

export function Colour() {
  const [colour, setColour] = useState("none");
  useFrontendTool({
    name: "show_colour",
    description: "Shows a colour to the person.",
    parameters: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
    run(args) {
      if (typeof args !== "object" || args === null || !("colour" in args)) throw new Error("Which colour?");
      setColour(String(args.colour));
      return "shown";
    },
  });
  return <p style={{ color: colour }}>{colour}</p>;
}
