import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasChromium, launchChromium } from "../browser/chromium.js";
import { threadScreen } from "../web/rig/thread-screen.js";
import { visit } from "../web/rig/visitor.js";
import { copiesOf } from "./rig/copies.js";
import { otherNodes } from "./rig/other-nodes.js";
import { command, install, PACKAGE_MANAGERS } from "./rig/package-manager.js";
import { type StartedCommand, type Stranger, stranger } from "./rig/stranger.js";
import { TARBALLS, tarballs } from "./rig/tarballs.js";

const LONG = 900_000;
const PATIENCE = { timeout: 120_000, interval: 50 };
const PROJECT = "my-agent";

describe.each(PACKAGE_MANAGERS)("a new project, with %s", { timeout: LONG }, (manager) => {
  let person: Stranger;
  let started: StartedCommand;
  const project = () => join(person.folder, PROJECT);
  const addressOf = (name: string) => new RegExp(`${name} +(http://\\S+)`).exec(started.printed())?.[1] ?? "";

  beforeAll(async () => {
    person = stranger();
    const create = tarballs().get("create-throughline") ?? "";
    const npx = ["--yes", `--package=${create}`, "create-throughline"];
    const made = await person.run("npx", [...npx, PROJECT, "--packages", TARBALLS]);
    expect(made).toContain("made my-agent: a graph, its server and a page");
    await install(person, manager, { in: PROJECT });
  }, LONG);
  afterAll(() => person.leave(), LONG);

  it("has one copy of what must be there once", () => {
    for (const name of ["@langchain/core", "@langchain/langgraph", "react", "@throughline/ai-core"]) {
      expect([name, copiesOf(project(), name)]).toEqual([name, 1]);
    }
  });

  it("compiles", async () => {
    await person.run(...command(manager, ["run", "types"]), { in: PROJECT });
  });

  it("passes its own test, which starts the server and gets an answer", async () => {
    const said = await person.run(...command(manager, ["test"]), { in: PROJECT });
    expect(said).toMatch(/pass 1\b/);
  });

  it.runIf(manager === "npm")("passes it on other versions of Node", async () => {
    for (const [version, node] of await otherNodes(person)) {
      const said = await person.run(node, ["--import", "tsx", "--test", "test/agent.test.ts"], {
        in: PROJECT,
      });
      expect([version, said]).toEqual([version, expect.stringMatching(/pass 1\b/)]);
    }
  });

  it("serves page, service and console with one command", async () => {
    const flags = ["start", "--", "--port", "0", "--console-port", "0"];
    started = person.start(
      ...command(manager, manager === "npm" ? flags : flags.filter((one) => one !== "--")),
      {
        in: PROJECT,
      },
    );
    await expect.poll(started.printed, PATIENCE).toContain("Ctrl-C stops everything.");
    const service = addressOf("service");
    expect((await fetch(`${service}/health`)).ok).toBe(true);
    // Copied into the package by its build.
    expect((await fetch(`${service}/docs/swagger-ui-bundle.js`)).ok).toBe(true);
    expect(await (await fetch(addressOf("page"))).text()).toContain('src="/src/page.tsx"');
    expect((await fetch(addressOf("console"))).url).toContain("/sign-in");
  });

  it.runIf(hasChromium())(
    "answers on its page and in the console, and anew once its graph is edited",
    async () => {
      const chromium = await launchChromium();
      try {
        const page = await chromium.context.newPage();
        await page.goto(addressOf("page"));
        const say = async (text: string) => {
          await page.getByRole("textbox", { name: "Message" }).fill(text);
          await page.getByRole("button", { name: "Send" }).click();
        };
        await say("Good morning.");
        await page.getByText("Hello! You wrote: “Good morning.”").waitFor();

        const source = join(project(), "src", "agent.ts");
        writeFileSync(source, readFileSync(source, "utf8").replace("Hello! You wrote", "Edited! You wrote"));
        await expect.poll(started.printed, PATIENCE).toContain("↻ reloaded: agent");
        await say("And now?");
        await page.getByText("Edited! You wrote: “And now?”").waitFor();
        await page.reload();
        await page.getByText("Hello! You wrote: “Good morning.”").waitFor();

        const visitor = await visit(chromium.browser, addressOf("console"));
        const screen = threadScreen(await visitor.open("/agents/agent"));
        await screen.say("Who is there?");
        await screen.untilShown("Edited! You wrote: “Who is there?”");
        await screen.untilDone();
        expect(visitor.complaints()).toEqual([]);
        await visitor.leave();
      } finally {
        await chromium.close();
      }
    },
  );

  it("ends everything with Ctrl-C", async () => {
    const addresses = ["service", "page", "console"].map(addressOf);
    await started.interrupt();
    for (const address of addresses) await expect(fetch(address)).rejects.toThrow();
  });

  it("is refused in a folder that holds something, which stays as it was", async () => {
    const before = readdirSync(project());
    await expect(person.run("npx", ["--no-install", "throughline", "init"], { in: PROJECT })).rejects.toThrow(
      "is not empty. Name a folder that is empty or does not exist.",
    );
    expect(readdirSync(project())).toEqual(before);
  });
});
