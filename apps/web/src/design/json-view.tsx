import type { Json } from "@throughline/ai-core";
import type { ReactNode } from "react";
import styles from "./json-view.module.css";

/** What went in or came out, as text that can be read. JSON in a string, as tools give it, is laid out as well. */
export function JsonView({ label, value }: { readonly label: string; readonly value: Json }): ReactNode {
  const text = prettyJson(value);
  if (text === "" || text === "{}") return null;
  return (
    <div className={styles.part}>
      <span className={styles.label}>{label}</span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than its box scrolls by keyboard */}
      <pre className={styles.value} tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

export function prettyJson(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value, undefined, 2);
  const text = value.trim();
  if (!/^[[{]/.test(text)) return value;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return value;
  }
}
