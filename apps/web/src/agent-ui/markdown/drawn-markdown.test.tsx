// @vitest-environment happy-dom
import { act, createElement, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RenderedMarkdown } from "./rendered-markdown";

let place: HTMLElement;
let root: Root;

beforeEach(() => {
  Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
  place = document.body.appendChild(document.createElement("div"));
  root = createRoot(place);
});

afterEach(() => {
  act(() => root.unmount());
  place.remove();
});

function draw(text: string, isGrowing = false): void {
  act(() => root.render(createElement(RenderedMarkdown, { text, isGrowing }) as ReactNode));
}

describe("Markdown", () => {
  it("draws headings below the page's own, lists, tables and code", () => {
    draw("# Tides\n\n- one\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```ts\nconst a = 1;\n```");
    expect(place.querySelector("h3")?.textContent).toBe("Tides");
    expect(place.querySelectorAll("li")).toHaveLength(1);
    expect(place.querySelectorAll("td")).toHaveLength(2);
    expect(place.querySelector("pre")?.textContent).toContain("const a = 1;");
    expect(place.querySelector("button")?.getAttribute("aria-label")).toBe("Copy the code");
  });

  it("shows HTML as text and runs none of it", () => {
    draw('<img src=x onerror="alert(1)">\n\n<script>alert(1)</script>');
    expect(place.querySelector("img, script")).toBeNull();
    expect(place.textContent).toContain("<script>");
  });

  it("shows characters that are written by name, but not in code", () => {
    draw(
      "5 &lt; 6 &amp; 7&nbsp;&mdash; `&lt;` \\&lt; &unheard; &constructor; AT&T [a&amp;b](https://example.com/?a=1&amp;b=2)",
    );
    expect(place.textContent).toBe("5 < 6 & 7\u00a0— &lt; &lt; &unheard; &constructor; AT&T a&b");
    expect(place.querySelector("a")?.href).toBe("https://example.com/?a=1&b=2");
  });

  it("links to the web alone, and tells no page whence its reader came", () => {
    draw("[good](https://example.com) [bad](javascript:alert(1)) ![picture](https://example.com/a.png)");
    const links = [...place.querySelectorAll("a")];
    expect(links.map((link) => link.textContent)).toEqual(["good", "picture"]);
    expect(links[0]?.rel).toContain("noopener");
    expect(place.textContent).toContain("bad");
  });

  it("leaves the paragraphs that did not change alone while the last one grows", () => {
    draw("First.\n\nSec", true);
    const first = place.querySelector("p");
    draw("First.\n\nSecond, **bo", true);
    expect(place.querySelector("p")).toBe(first);
    expect(place.querySelector("strong")?.textContent).toBe("bo");
  });
});
