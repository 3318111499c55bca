/** A markdown table with its columns aligned, and an empty line behind it. */
export function table(head, rows) {
  const all = [head, ...rows].map((row) => row.map((cell) => String(cell).replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  const [first, ...others] = all;
  return [
    line(first),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...others.map(line),
    "",
  ];
}

/** A number as people read it: three digits, thousands apart. */
export function shown(value) {
  if (typeof value !== "number") return String(value ?? "not measured");
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return value.toLocaleString("en-US", { maximumSignificantDigits: Math.abs(value) >= 1_000 ? 5 : 3 });
}
