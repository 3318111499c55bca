import { printable } from "./transcript/span.js";

/** Rows in columns, as wide as they must be; the last column is as long as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => printable(cell).replace(/\s+/g, " ")));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => [...(row[column] ?? "")].length)),
  );
  return cells
    .map((row) => {
      const line = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length));
      return `${line.join("  ").trimEnd()}\n`;
    })
    .join("");
}

/** `3 min ago`, `in 2 h`: how people speak of times that are near. */
export function nearTime(iso: string | null, now: number): string {
  if (iso === null) return "-";
  const away = Date.parse(iso) - now;
  const [size, unit] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ].find(([each]) => Math.abs(away) >= Number(each)) ?? [1_000, "s"];
  const count = `${Math.round(Math.abs(away) / Number(size))} ${unit}`;
  return away < 0 ? `${count} ago` : `in ${count}`;
}
