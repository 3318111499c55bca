import { beforeEach, describe, expect, it } from "vitest";
import { createTabTitle, type TabTitle, type TitledPage } from "./document-title";

describe("a tab's title", () => {
  let page: TitledPage;
  let title: TabTitle;
  beforeEach(() => {
    page = { title: "Poet · Throughline" };
    title = createTabTitle(page);
  });
  /** As when a route's metadata arrives. */
  const declare = (declared: string) => {
    page.title = declared;
    title.sync();
  };

  it("says before it how many threads wait, and nothing where none does", () => {
    title.mark(2);
    expect(page.title).toBe("(2) Poet · Throughline");
    title.mark(1);
    expect(page.title).toBe("(1) Poet · Throughline");
    title.mark(0);
    expect(page.title).toBe("Poet · Throughline");
  });

  it("is the thread's name whenever the route's title arrives, and the route's own again when the thread is left", () => {
    title.name("rivers · poet");
    expect(page.title).toBe("rivers · poet");
    declare("Poet · Throughline");
    expect(page.title).toBe("rivers · poet");
    title.mark(1);
    declare("Inbox · Throughline");
    expect(page.title).toBe("(1) rivers · poet");
    title.name(undefined);
    expect(page.title).toBe("(1) Inbox · Throughline");
  });

  it("keeps a bracketed number that is the thread's own", () => {
    title.name("(3) wishes · poet");
    title.mark(1);
    expect(page.title).toBe("(1) (3) wishes · poet");
    title.mark(0);
    expect(page.title).toBe("(3) wishes · poet");
  });
});
