const APPLE: Readonly<Record<string, string>> = { mod: "⌘", shift: "⇧", alt: "⌥", enter: "↵" };
const OTHERS: Readonly<Record<string, string>> = { mod: "Ctrl", shift: "Shift", alt: "Alt", enter: "Enter" };
const EVERYWHERE: Readonly<Record<string, string>> = {
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
};

/** The keys of `mod+k`, or of `g c`, one after the other. */
export function keyWords(keys: string, isApple: boolean): readonly string[] {
  const words = isApple ? APPLE : OTHERS;
  return keys.split(/[+ ]/).map((key) => words[key] ?? EVERYWHERE[key] ?? key.toUpperCase());
}
