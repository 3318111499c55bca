import { setting, wholeNumber } from "@throughline/langgraph-server/settings";
import { describe, expect, it } from "vitest";
import { checkArguments, defineCommand, readArguments } from "./command.js";

const command = defineCommand({
  name: "draw",
  summary: "Draws",
  usage: "SHAPE",
  help: "",
  settings: {
    size: setting({
      env: "SIZE",
      flag: "size",
      group: "running",
      placeholder: "N",
      doc: "How large.",
      schema: wholeNumber,
      fallback: 1,
    }),
  },
  words: { min: 1, max: 1 },
  options: {
    json: { type: "boolean", doc: "as JSON" },
    colour: { type: "string", placeholder: "NAME", doc: "which colour" },
  },
  run: async () => 0,
});
const read = (...argv: readonly string[]) => readArguments(command, argv);

describe("the command line", () => {
  it("tells options, settings and words apart, in any order", () => {
    expect(read("--size", "3", "circle", "--json", "--colour=red")).toEqual({
      values: { json: true, colour: "red" },
      flags: { size: "3" },
      positionals: ["circle"],
      wantsHelp: false,
    });
  });

  it("takes everything after -- for words, and a value that begins with a dash when it is written with =", () => {
    expect(read("--", "--json").positionals).toEqual(["--json"]);
    expect(read("--colour=--red").values).toEqual({ colour: "--red" });
    expect(read("--colour", "-1").values).toEqual({ colour: "-1" });
  });

  it.each([[["--help"]], [["-h"]], [["circle", "--help"]]])("hears the call for help in %j", (argv) => {
    expect(read(...argv).wantsHelp).toBe(true);
  });

  it.each([
    [["--colr", "red"], "There is no option --colr. Did you mean --colour?"],
    [["--siez=3"], "There is no option --siez. Did you mean --size?"],
    [["--wholly-other"], "There is no option --wholly-other. See throughline draw --help."],
    [["-x"], "There is no option -x."],
    [["--colour"], "--colour needs a value, as --colour NAME."],
    [["--size", "--json"], "--size needs a value, as --size N."],
    [["--json=yes"], "--json takes no value."],
  ])("refuses %j in one line that says what to type", (argv, sentence) => {
    expect(() => read(...argv)).toThrow(sentence);
  });

  it("says which word is missing, or too much", () => {
    expect(() => checkArguments(command, [])).toThrow("Something is missing: throughline draw SHAPE");
    expect(() => checkArguments(command, ["a", "b"])).toThrow('"b" is too much: throughline draw SHAPE');
  });
});
