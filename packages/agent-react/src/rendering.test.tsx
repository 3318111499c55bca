// @vitest-environment happy-dom
import type { JsonObject } from "@throughline/ai-core";
import { memo } from "react";
import { expect, it } from "vitest";
import {
  AgentProvider,
  ThreadProvider,
  useCalls,
  useCommands,
  useConnection,
  useInterrupts,
  useMessage,
  useMessageIds,
  useMessages,
  usePending,
  useRun,
  useThreadState,
  useUsage,
} from "./index.js";
import { createFakePage, finished, mount, Probe, started, token, told } from "./testing/fake-page.js";

interface Counted {
  /** Told with each render who it was. */
  readonly rendered: (name: string) => void;
}

const Message = memo(({ id, rendered }: Counted & { readonly id: string }) => {
  rendered(id);
  const message = useMessage(id);
  return <p id={id}>{typeof message?.content === "string" ? message.content : ""}</p>;
});

function List({ rendered }: Counted) {
  rendered("list");
  return useMessageIds().map((id) => <Message key={id} id={id} rendered={rendered} />);
}

const moodOf = ({ mood }: JsonObject) => mood;

const PARTS: Readonly<Record<string, () => unknown>> = {
  run: useRun,
  calls: useCalls,
  interrupts: useInterrupts,
  connection: useConnection,
  usage: useUsage,
  pending: usePending,
  commands: useCommands,
  state: () => useThreadState(moodOf),
};

/** A page of everything, each part of which says when it renders. */
function createCountedPage() {
  const page = createFakePage();
  let names: string[] = [];
  const rendered = (name: string) => names.push(name);
  const tree = (
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        <List rendered={rendered} />
        {Object.entries(PARTS).map(([name, use]) => (
          <Probe
            key={name}
            use={() => {
              rendered(name);
              use();
            }}
          />
        ))}
      </ThreadProvider>
    </AgentProvider>
  );
  return {
    ...page,
    tree,
    /** What rendered since this was last asked. */
    rendered() {
      const since = names;
      names = [];
      return since;
    },
  };
}

const OTHERS = Array.from({ length: 200 }, (_, index) => ({ id: `m${index}`, content: `text ${index}` }));

async function streaming() {
  const page = createCountedPage();
  const { container } = await mount(page.tree);
  const [stream] = page.streams;
  if (!stream) throw new Error("no stream was opened");
  stream.tell(...told(OTHERS), started("r"), { type: "TEXT_MESSAGE_START", messageId: "new" });
  await page.draw();
  expect(container.querySelectorAll("p")).toHaveLength(201);
  page.rendered();
  return { ...page, stream, text: (id: string) => container.querySelector(`#${id}`)?.textContent };
}

it("renders, for a token, the one component that shows its message, and none of two hundred others", async () => {
  const { stream, draw, rendered, text } = await streaming();
  for (const word of ["Rivers ", "do ", "not ", "wait."]) {
    stream.tell(token("new", word));
    await draw();
    expect(rendered()).toEqual(["new"]);
  }
  expect(text("new")).toBe("Rivers do not wait.");
});

it("renders once a frame, however many tokens came", async () => {
  const { stream, draw, rendered, text } = await streaming();
  for (let n = 0; n < 100; n += 1) stream.tell(token("new", "x"));
  expect(rendered()).toEqual([]);
  await draw();
  expect(rendered()).toEqual(["new"]);
  expect(text("new")).toBe("x".repeat(100));
});

it("renders nothing for a frame that changed nothing", async () => {
  const { draw, rendered } = await streaming();
  await draw();
  expect(rendered()).toEqual([]);
});

it("renders the list when a message comes, and not when its text is complete", async () => {
  const { stream, draw, rendered } = await streaming();
  stream.tell(token("new", "done"), { type: "TEXT_MESSAGE_END", messageId: "new" });
  await draw();
  expect(rendered()).toEqual(["new"]);
  stream.tell({ type: "TEXT_MESSAGE_START", messageId: "next" });
  await draw();
  expect(rendered()).toEqual(["list", "next"]);
});

it("renders what shows the run, and no message, when the run ends", async () => {
  const { stream, draw, rendered } = await streaming();
  stream.tell({ type: "TEXT_MESSAGE_END", messageId: "new" });
  await draw();
  rendered();
  stream.tell(finished("r"));
  await draw();
  expect(rendered()).toEqual(["run"]);
});

it("renders what shows one key of the state only when that key changes", async () => {
  const { stream, draw, rendered } = await streaming();
  stream.tell({ type: "STATE_DELTA", delta: [{ op: "add", path: "/topic", value: "rivers" }] });
  await draw();
  expect(rendered()).toEqual([]);
  stream.tell({ type: "STATE_DELTA", delta: [{ op: "add", path: "/mood", value: "calm" }] });
  await draw();
  expect(rendered()).toEqual(["state"]);
});

it("gives all messages, text under way included, to whoever wants them all", async () => {
  const page = createFakePage();
  const seen: string[] = [];
  await mount(
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        <Probe
          use={() => {
            const contents = useMessages().map(({ content }) => content);
            seen.push(contents.join("|"));
          }}
        />
      </ThreadProvider>
    </AgentProvider>,
  );
  page.streams[0]?.tell(...told([{ id: "a", content: "one" }]), started("r"), {
    type: "TEXT_MESSAGE_START",
    messageId: "b",
  });
  page.streams[0]?.tell(token("b", "tw"));
  await page.draw();
  // Text is under way, and says nothing new.
  page.streams[0]?.tell({ type: "STATE_DELTA", delta: [{ op: "add", path: "/mood", value: "calm" }] });
  await page.draw();
  page.streams[0]?.tell(token("b", "o"), { type: "TEXT_MESSAGE_END", messageId: "b" }, finished("r"));
  await page.draw();
  expect(seen).toEqual(["", "one|tw", "one|two"]);
});
