// @vitest-environment happy-dom
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { AgentProvider, ThreadProvider, useConnection, useMessages } from "./index.js";
import { createFakePage, hydrate, told } from "./testing/fake-page.js";

function Page() {
  const { kind } = useConnection();
  const words = useMessages().map(({ content }) => content);
  return <p>{[kind, ...words].join(" ")}</p>;
}

it("takes up a server's page as it is, and then shows what the client has long held", async () => {
  const page = createFakePage();
  page.client.thread("poet", "t").open();
  await Promise.resolve();
  page.streams[0]?.tell(...told([{ id: "m", content: "hello" }]));
  await page.draw();
  const tree = (
    <AgentProvider client={page.client}>
      <ThreadProvider agentId="poet" threadId="t">
        <Page />
      </ThreadProvider>
    </AgentProvider>
  );
  const html = renderToString(tree);
  expect(html).toBe("<p>closed</p>");
  const { text, complaints } = await hydrate(html, tree);
  expect(complaints).toEqual([]);
  expect(text()).toBe("live hello");
});
