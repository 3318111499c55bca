import { expect, it } from "vitest";
import { readStartOptions } from "./start-options.mjs";

it("starts the console beside the service on this machine alone unless it is told otherwise", () => {
  expect(readStartOptions([], {})).toEqual({
    isConsoleWanted: true,
    consolePort: undefined,
    forService: [],
    host: "127.0.0.1",
  });
});

it("keeps the console's flags from the service, in either form, and hands on all others", () => {
  const flags = ["--port", "9000", "--console-port", "4000", "--watch", "--no-console"];
  expect(readStartOptions(flags, {})).toMatchObject({
    isConsoleWanted: false,
    consolePort: 4000,
    forService: ["--port", "9000", "--watch"],
  });
  expect(readStartOptions(["--console-port=0", "--port=1"], {})).toMatchObject({
    consolePort: 0,
    forService: ["--port=1"],
  });
});

it("lets a flag win over a variable, and takes an empty variable for none", () => {
  expect(readStartOptions(["--console-port", "1"], { THROUGHLINE_CONSOLE_PORT: "2" }).consolePort).toBe(1);
  expect(readStartOptions([], { THROUGHLINE_CONSOLE_PORT: "2" }).consolePort).toBe(2);
  expect(readStartOptions([], { THROUGHLINE_CONSOLE_PORT: "" }).consolePort).toBeUndefined();
});

it("listens where the service does, which is told so too", () => {
  expect(readStartOptions([], { THROUGHLINE_HOST: "0.0.0.0" }).host).toBe("0.0.0.0");
  expect(readStartOptions(["--host", "::1"], { THROUGHLINE_HOST: "0.0.0.0" })).toMatchObject({
    host: "::1",
    forService: ["--host", "::1"],
  });
});

it("refuses what is no port with a sentence that names the flag", () => {
  for (const port of ["web", "", "65536", "-1", "1.5"]) {
    expect(() => readStartOptions(["--console-port", port], {})).toThrow(/--console-port/);
  }
});
