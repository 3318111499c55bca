// @vitest-environment happy-dom
import type { ThreadSnapshot } from "@throughline/agent-client";
import { StrictMode } from "react";
import { describe, expect, it, vi } from "vitest";
import { AgentProvider, ThreadProvider, useMessages, useThread, useThreadHandle } from "./index.js";
import { createFakePage, mount, Probe, told } from "./testing/fake-page.js";

type FakePage = ReturnType<typeof createFakePage>;

function page({ client }: FakePage, threadId: string | undefined, live?: boolean) {
  return (
    <AgentProvider client={client}>
      {threadId !== undefined && (
        <ThreadProvider agentId="poet" threadId={threadId} {...(live !== undefined && { live })}>
          <Words />
        </ThreadProvider>
      )}
    </AgentProvider>
  );
}

function Words() {
  return useMessages()
    .map(({ content }) => content)
    .join(" ");
}

const firstWords = ({ view }: ThreadSnapshot) => view.messages[0]?.content;
const allTheSame = () => true;

const names = (fake: FakePage) => fake.openStreams().map(({ threadId }) => threadId);

describe("a thread's provider", () => {
  it("keeps one stream open while mounted, and lets go of it when unmounted", async () => {
    const fake = createFakePage();
    const { render, text } = await mount(page(fake, "t"));
    expect(names(fake)).toEqual(["t"]);
    fake.streams[0]?.tell(...told([{ id: "m", content: "hello" }]));
    await fake.draw();
    expect(text()).toBe("hello");
    await render(page(fake, undefined));
    await vi.waitFor(() => expect(names(fake)).toEqual([]));
    expect(fake.streams).toHaveLength(1);
  });

  it("opens one stream in StrictMode, and never cuts it", async () => {
    const fake = createFakePage();
    const { unmount } = await mount(<StrictMode>{page(fake, "t")}</StrictMode>);
    await fake.draw();
    expect(fake.client.thread("poet", "t").getSnapshot().connection).toEqual({ kind: "live" });
    await unmount();
    await vi.waitFor(() => expect(names(fake)).toEqual([]));
    expect(fake.streams).toHaveLength(1);
  });

  it("keeps the stream when one page of a thread takes another's place", async () => {
    const fake = createFakePage();
    const { render } = await mount(<div key="first">{page(fake, "t")}</div>);
    await render(<div key="second">{page(fake, "t")}</div>);
    // The former's release is due before this one's.
    await render(<div key="third">{page(fake, undefined)}</div>);
    await vi.waitFor(() => expect(names(fake)).toEqual([]));
    expect(fake.streams).toHaveLength(1);
  });

  it("opens no stream unless it is live", async () => {
    const fake = createFakePage();
    const { render } = await mount(page(fake, "t", false));
    expect(fake.streams).toHaveLength(0);
    await render(page(fake, "t", true));
    expect(names(fake)).toEqual(["t"]);
    await render(page(fake, "t", false));
    await vi.waitFor(() => expect(names(fake)).toEqual([]));
  });

  it("lets go of one thread when it takes up another", async () => {
    const fake = createFakePage({ maxOpen: 5 });
    const { render } = await mount(page(fake, "a"));
    await render(page(fake, "b"));
    expect(names(fake)).toEqual(["b"]);
  });

  it("gives the client's own handle", async () => {
    const fake = createFakePage();
    const handles: unknown[] = [];
    await mount(
      <AgentProvider client={fake.client}>
        <ThreadProvider agentId="poet" threadId="t">
          <Probe use={() => handles.push(useThreadHandle())} />
        </ThreadProvider>
      </AgentProvider>,
    );
    expect(handles).toEqual([fake.client.thread("poet", "t")]);
  });
});

describe("switching threads", () => {
  it("never shows one thread's words under another's name", async () => {
    const fake = createFakePage({ maxOpen: 2 });
    for (const name of ["a", "b"]) {
      fake.client.thread("poet", name).open();
      await Promise.resolve();
      fake.streams.at(-1)?.tell(...told([{ id: "m", content: `of ${name}` }]));
    }
    const seen: string[] = [];
    const at = (threadId: string) => (
      <AgentProvider client={fake.client}>
        <ThreadProvider agentId="poet" threadId={threadId}>
          <Probe
            use={() => {
              const { threadId } = useThreadHandle();
              const first = useMessages()[0]?.content;
              const careless = useThread(firstWords, allTheSame);
              seen.push(`${threadId}: ${first}, ${careless}`);
            }}
          />
        </ThreadProvider>
      </AgentProvider>
    );
    const { render } = await mount(at("a"));
    await render(at("b"));
    await render(at("a"));
    await fake.draw();
    expect(new Set(seen)).toEqual(new Set(["a: of a, of a", "b: of b, of b"]));
  });

  it("shows an empty thread until the other has been heard of", async () => {
    const fake = createFakePage();
    const { render, text } = await mount(page(fake, "a"));
    fake.streams[0]?.tell(...told([{ id: "m", content: "of a" }]));
    await fake.draw();
    await render(page(fake, "b"));
    expect(text()).toBe("");
    // What the former's stream still says is dropped.
    fake.streams[0]?.tell(...told([{ id: "m", content: "late" }]));
    await fake.draw();
    expect(text()).toBe("");
  });

  it("leaves nobody listening to the thread that was left", async () => {
    const fake = createFakePage();
    const left = fake.client.thread("poet", "a");
    const listening = { now: 0 };
    const { subscribe } = left;
    vi.spyOn(left, "subscribe").mockImplementation((listener) => {
      listening.now += 1;
      const unsubscribe = subscribe(listener);
      return () => {
        listening.now -= 1;
        unsubscribe();
      };
    });
    const { render } = await mount(page(fake, "a"));
    expect(listening.now).toBe(1);
    await render(page(fake, "b"));
    expect(listening.now).toBe(0);
  });
});
