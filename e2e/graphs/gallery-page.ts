import { GALLERY, type GalleryEntry, type ServerEntry } from "./gallery.js";

export const PAGE_BEGIN = "<!-- gallery: begin -->";
export const PAGE_END = "<!-- gallery: end -->";

type Marks = Pick<GalleryEntry, "differences" | "knownFaults">;

/** The part of docs/graphs.md that the gallery writes: the table of results, and the reasons of what differs. */
export function renderGallery(): string {
  const rows = GALLERY.map((entry) => [
    `\`${entry.name}\``,
    entry.about,
    resultOf(entry),
    typeof entry.server === "string" ? "not run" : serverResultOf(entry.server ?? entry),
  ]);
  const faults = reasons("knownFaults");
  return [
    table(["graph", "what it does", "in process", "LangGraph server"], rows),
    "### Differences with a reason",
    table(["graph", "where", "check", "reason"], reasons("differences")),
    "### Known faults",
    faults.length === 0 ? "None." : table(["graph", "where", "check", "fault"], faults),
  ].join("\n\n");
}

function resultOf({ differences = {}, knownFaults = {} }: Marks): string {
  const parts = [
    ...Object.keys(differences).map((check) => `${check} differs`),
    ...Object.keys(knownFaults).map((check) => `${check} fails`),
  ];
  return parts.length === 0 ? "same" : parts.join(", ");
}

function serverResultOf({ outputs, ...marks }: ServerEntry): string {
  return outputs ? `${resultOf(marks)}, with declared outputs` : resultOf(marks);
}

function reasons(kind: keyof Marks): string[][] {
  return GALLERY.flatMap((entry) => {
    const { name, server } = entry;
    const rows = Object.entries(entry[kind] ?? {}).map(([check, reason]) => ["in process", check, reason]);
    if (typeof server === "string" && kind === "differences") rows.push(["LangGraph server", "all", server]);
    if (typeof server !== "string") {
      const own = Object.entries((server ?? entry)[kind] ?? {});
      rows.push(...own.map(([check, reason]) => ["LangGraph server", check, reason]));
    }
    return rows.map((row) => [`\`${name}\``, ...row]);
  });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
