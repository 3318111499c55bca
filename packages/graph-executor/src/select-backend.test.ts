import { expect, it } from "vitest";
import { selectBackend } from "./provider.js";

it("runs graphs in this process unless a server is named", () => {
  expect(selectBackend({})).toEqual({ kind: "inproc" });
  expect(selectBackend({ LANGGRAPH_DEV_URL: "", LANGGRAPH_SERVER_URL: "" })).toEqual({ kind: "inproc" });
});

it("chooses the dev server or the server by the variable that is set", () => {
  const url = "http://localhost:2024";
  expect(selectBackend({ LANGGRAPH_DEV_URL: url })).toEqual({ kind: "dev", url });
  expect(selectBackend({ LANGGRAPH_SERVER_URL: url })).toEqual({ kind: "server", url });
  expect(selectBackend({ LANGGRAPH_SERVER_URL: url, LANGGRAPH_SERVER_API_KEY: "k" })).toEqual({
    kind: "server",
    url,
    apiKey: "k",
  });
});

it("refuses two backends at once and says which variables to choose from", () => {
  const env = { LANGGRAPH_DEV_URL: "http://a", LANGGRAPH_SERVER_URL: "http://b" };
  expect(() => selectBackend(env)).toThrow(/LANGGRAPH_DEV_URL and LANGGRAPH_SERVER_URL.*Unset one/);
});

it.each(["localhost:2024", "not a url", "ftp://host"])(
  "refuses %s as an address, naming the variable",
  (text) => {
    expect(() => selectBackend({ LANGGRAPH_DEV_URL: text })).toThrow("LANGGRAPH_DEV_URL");
  },
);
