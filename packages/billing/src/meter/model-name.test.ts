import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelOfRequest, topLevelModel } from "./model-name.js";

describe("topLevelModel", () => {
  it.each<[string, string | null]>([
    ['{"model":"cheap","messages":[]}', "cheap"],
    ['{ "messages" : [{"model":"inner"}], "model" : "outer" }', "outer"],
    ['{"messages":[{"content":"say \\"model\\":\\"x\\""}],"model":"cheap"}', "cheap"],
    ['{"text":"ends with a backslash \\\\","model":"cheap"}', "cheap"],
    ['{"model":"first","model":"last"}', "last"],
    ['{"mod\\u0065l":"escaped"}', "escaped"],
    ['{"a":"model","b":"cheap"}', null],
    ['{"model":null}', null],
    ['{"model":{"model":"x"}}', null],
    ["{}", null],
    ["", null],
    ['["model","x"]', null],
    ['{"model":"unfinished', null],
  ])("reads %s as %s", (json, model) => {
    expect(topLevelModel(json)).toBe(model);
  });

  it("gives what a parser gives, for every JSON object", () => {
    const value = fc.jsonValue();
    const record = fc.dictionary(fc.oneof(fc.constant("model"), fc.string()), value);
    fc.assert(
      fc.property(record, fc.constantFrom(undefined, 2), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const parsed: unknown = JSON.parse(text);
        const model =
          typeof parsed === "object" && parsed !== null && "model" in parsed ? parsed.model : null;
        expect(topLevelModel(text)).toBe(typeof model === "string" ? model : null);
      }),
      { numRuns: 300 },
    );
  });
});

describe("modelOfRequest", () => {
  it("reads the model where the client put it", () => {
    expect(modelOfRequest("/v1/chat/completions", '{"model":"a"}')).toBe("a");
    expect(modelOfRequest("/v1/chat/completions", new TextEncoder().encode('{"model":"a"}'))).toBe("a");
    expect(modelOfRequest("/openai/deployments/my%20model/chat/completions", "{}")).toBe("my model");
    expect(modelOfRequest("/v1/audio/transcriptions", new FormData())).toBeNull();
  });
});
