/** Text that is HTML already. Everything else is escaped where it enters. */
export interface Markup {
  readonly html: string;
}
type Part = Markup | string | number | undefined | false | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { html: String.raw({ raw: strings }, ...parts.map(render)) };
}

/** A sentence in which backticks mark code. */
export function prose(text: string): Markup {
  return markup`${text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : part))}`;
}

/** Parts with something between them. */
export function joined(parts: readonly Part[], between: string): Markup {
  return markup`${parts.map((part, index) => (index === 0 ? part : [between, part]))}`;
}

function render(part: Part): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string" || typeof part === "number") {
    return String(part).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
  }
  return "html" in part ? part.html : part.map(render).join("");
}
