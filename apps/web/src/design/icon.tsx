import type { ReactNode } from "react";

/** Drawn on a grid of 16 with one stroke width; each is one path. */
const PATHS = {
  archive: "M2 3h12v3H2zM3 6v7h10V6M6.5 9h3",
  arrowDown: "M8 3v10M4 9l4 4 4-4",
  arrowUp: "M8 13V3M4 7l4-4 4 4",
  attach: "M13 7.5 8 12.5a3 3 0 0 1-4.3-4.3l5.5-5.4a2 2 0 0 1 2.9 2.8L6.6 11a1 1 0 0 1-1.4-1.4L10 4.9",
  bolt: "M9 1.5 3 9h4.5L7 14.5 13 7H8.5z",
  check: "m3 8.5 3.2 3.2L13 5",
  chevronDown: "m4 6 4 4 4-4",
  chevronLeft: "m10 4-4 4 4 4",
  chevronRight: "m6 4 4 4-4 4",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.2 1.6",
  close: "m4 4 8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM3 10V3h7",
  edit: "M3 13h2.5L13 5.5 10.5 3 3 10.5z",
  error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.6M8 11v.01",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  filter: "M2 4h12M4.5 8h7M7 12h2",
  fork: "M5 3.5v9M5 9c4 0 6-1.500 6-4.500M5 2.500v1M11 2.500v2M5 12.500v1",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.300 6.500a1.700 1.700 0 1 1 2.400 1.600c-.5.200-.7.500-.7 1M8 11.200v.01",
  inspect: "M5 4 1.500 8 5 12M11 4l3.500 4-3.500 4M9.200 3 6.800 13",
  lock: "M4 7.500h8v6H4zM5.500 7.500V5.500a2.500 2.500 0 0 1 5 0v2",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  model:
    "M4 4h8v8H4zM6.500 1.500V4M9.500 1.500V4M6.500 12v2.500M9.500 12v2.500M1.500 6.500H4M1.500 9.500H4M12 6.500h2.500M12 9.500h2.500",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500Z",
  more: "M3.500 8v.01M8 8v.01M12.500 8v.01",
  node: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM1.500 8H5M11 8h3.500",
  panel: "M2 3h12v10H2zM10 3v10",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  people:
    "M6 7.500a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600ZM2 13c0-2.300 1.700-3.700 4-3.700s4 1.400 4 3.700M10.500 3.200a2.200 2.200 0 0 1 0 4.100M11.500 9.500c1.600.4 2.500 1.700 2.500 3.500",
  play: "M5 3l8 5-8 5z",
  plus: "M8 3v10M3 8h10",
  refresh: "M13 8a5 5 0 1 1-1.500-3.600M13 2.500v3h-3",
  search: "M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9ZM10.500 10.500l3 3",
  send: "M8 13V3M4 7l4-4 4 4",
  signOut: "M6 3H3v10h3M7 8h7M11 5l3 3-3 3",
  stop: "M4 4h8v8H4z",
  subgraph: "M2 2.500h5v4H2zM9 9.500h5v4H9zM4.500 6.500v5H9",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.9M11.700 11.700l.9.9M3.400 12.600l.9-.9M11.700 4.300l.9-.9",
  thought: "M3 3h10v7H8l-3 3v-3H3z",
  tool: "M9.500 6.500 3 13M13 4.500a3 3 0 0 1-4 3.300A3 3 0 0 1 11.500 3l-1.300 1.500.3 1 1 .3z",
  trash: "M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.5 9h6l.5-9",
  usage: "M3 13V9M8 13V3M13 13V6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
