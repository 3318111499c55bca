import { AsyncLocalStorage } from "node:async_hooks";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { bindCallContextsOf } from "./call-context.js";

/** As LangChain's: a call that waits is started by the end of the one before it. */
const CALLER = `class AsyncCaller {
  last = Promise.resolve();
  waiting = [];
  isBusy = false;
  async call(callable, ...args) {
    return new Promise((resolve, reject) => {
      this.waiting.push(() => callable(...args).then(resolve, reject).finally(() => this.next()));
      if (!this.isBusy) this.next();
    });
  }
  callWithOptions(_options, callable, ...args) {
    return this.call(callable, ...args);
  }
  next() {
    const start = this.waiting.shift();
    this.isBusy = start !== undefined;
    start?.();
  }
}
`;

it("A project's own copies of LangChain start waiting calls in the context they were made in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "own-langchain-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const core = join(folder, "node_modules/@langchain/core");
  mkdirSync(core, { recursive: true });
  const copies = { require: "./caller.cjs", import: "./caller.js" };
  const manifest = { name: "@langchain/core", type: "module", exports: { "./utils/async_caller": copies } };
  writeFileSync(join(core, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(core, "caller.cjs"), `${CALLER}exports.AsyncCaller = AsyncCaller;`);
  writeFileSync(join(core, "caller.js"), `${CALLER}export { AsyncCaller };`);
  await bindCallContextsOf(join(folder, "langgraph.json"));
  for (const file of ["caller.cjs", "caller.js"]) {
    const { AsyncCaller } = await import(pathToFileURL(join(core, file)).href);
    const caller = new AsyncCaller();
    const tenant = new AsyncLocalStorage<string>();
    const called = (name: string) =>
      tenant.run(name, () =>
        caller.call(async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return tenant.getStore();
        }),
      );
    expect(await Promise.all(["ann", "bob", "cid"].map(called))).toEqual(["ann", "bob", "cid"]);
  }
});

it("A project without LangChain is left alone", async () => {
  await expect(bindCallContextsOf("/nowhere/langgraph.json")).resolves.toBeUndefined();
});
