// Plots as plain SVG, without a library: a page of numbers needs two kinds.

const WIDTH = 720;
const MARGIN = 12;
const FONT = "system-ui, sans-serif";
const COLOURS = { ours: "#3b6ef5", peer: "#9aa4b2", bound: "#d9480f", text: "#1f2933", quiet: "#667085" };

const escaped = (text) =>
  String(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

const round = (value) => Math.round(value * 10) / 10;

function text(words, { x, y, size = 12, colour = COLOURS.text, anchor = "start" }) {
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${colour}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

function picture(title, height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="${FONT}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>`,
    text(title, { x: MARGIN, y: 24, size: 14 }),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/**
 * A bar for each, ours and peers', on one scale from 0.
 *
 * @param {{ title: string, bars: readonly { label: string, value: number, shown: string, isOurs: boolean }[] }} chart
 */
export function barChart({ title, bars }) {
  const [left, right, top, step] = [200, 110, 40, 26];
  const most = Math.max(...bars.map(({ value }) => value));
  const parts = bars.flatMap(({ label, value, shown, isOurs }, index) => {
    const y = top + index * step;
    const width = most > 0 ? Math.max(1, (value / most) * (WIDTH - left - right)) : 1;
    return [
      text(label, { x: left - 8, y: y + 14, anchor: "end" }),
      `<rect x="${left}" y="${y}" width="${round(width)}" height="18" rx="2" fill="${isOurs ? COLOURS.ours : COLOURS.peer}"/>`,
      text(shown, { x: left + width + 6, y: y + 14, colour: COLOURS.quiet }),
    ];
  });
  return picture(title, top + bars.length * step + MARGIN, parts);
}

/** Round numbers from 0 to the first that is not below `most`: steps of 1, 2 or 5 times a power of ten, at most seven of them. */
export function ticksTo(most) {
  const power = 10 ** Math.floor(Math.log10(most / 7));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= 7);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) =>
    Number((index * step).toPrecision(12)),
  );
}

/**
 * Lines over a common x axis, with a dashed bound where there is one.
 *
 * @param {{ title: string, xLabel: string, bound?: number,
 *   lines: readonly { label: string, points: readonly (readonly [number, number])[] }[] }} chart
 */
export function lineChart({ title, xLabel, lines, bound }) {
  const [left, right, top, height] = [56, 24, 56, 300];
  const bottom = height - 40;
  const points = lines.flatMap((line) => line.points);
  const xTicks = ticksTo(Math.max(...points.map(([x]) => x), 1));
  const yTicks = ticksTo(Math.max(...points.map(([, y]) => y), bound ?? 0, 1));
  const [mostX, mostY] = [xTicks.at(-1), yTicks.at(-1)];
  const toX = (x) => left + (x / mostX) * (WIDTH - left - right);
  const toY = (y) => bottom - (y / mostY) * (bottom - top);
  const colours = [COLOURS.ours, COLOURS.quiet, COLOURS.peer];
  const parts = [
    ...yTicks.map((y) => text(y, { x: left - 6, y: toY(y) + 4, anchor: "end", colour: COLOURS.quiet })),
    ...xTicks.map((x) => text(x, { x: toX(x), y: bottom + 16, anchor: "middle", colour: COLOURS.quiet })),
    text(xLabel, { x: WIDTH - right, y: height - 8, anchor: "end", colour: COLOURS.quiet }),
    `<path d="M${left} ${top}V${bottom}H${WIDTH - right}" fill="none" stroke="${COLOURS.peer}"/>`,
    ...lines.flatMap(({ label, points: own }, index) => {
      const colour = colours[index % colours.length];
      const path = own.map(([x, y]) => `${round(toX(x))} ${round(toY(y))}`).join("L");
      return [
        `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        `<rect x="${left + index * 200}" y="34" width="10" height="10" fill="${colour}"/>`,
        text(label, { x: left + index * 200 + 16, y: 43 }),
      ];
    }),
  ];
  if (bound !== undefined) {
    parts.push(
      `<path d="M${left} ${round(toY(bound))}H${WIDTH - right}" stroke="${COLOURS.bound}" stroke-dasharray="6 4"/>`,
      text(bound, { x: WIDTH - right, y: toY(bound) - 4, anchor: "end", colour: COLOURS.bound }),
    );
  }
  return picture(title, height, parts);
}
