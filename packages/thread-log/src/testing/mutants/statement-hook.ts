import pg from "pg";

export interface SeenStatement {
  /** Where it is sent from, and how it begins. */
  readonly name: string;
  readonly text: string;
}

/** Stands between this package and `pg`: tells which statements are sent, and sends another instead of one of them. */
export interface StatementHook {
  /** By text as of the schema `throughline`, in the order in which they were sent first. */
  readonly seen: ReadonlyMap<string, SeenStatement>;
  /** Texts that were sent since this was called last. */
  takeSent(): ReadonlySet<string>;
  /** Until called again. */
  replace(replacement: Replacement | undefined): void;
  /** How often the replaced statement was sent since then. */
  replaced(): number;
}

export interface Replacement {
  readonly original: string;
  readonly text: string;
}

const PASSED_THROUGH = new Set(["connection/pool", "connection/transaction", "schema/migrate"]);
/** Sends for others, and what opening a database needs. */
const OPENS = "database";
const WORDS = 5;
/** Where a statement comes from that a test sends by itself. */
const TEST = "test";

let installed: StatementHook | undefined;

/** Once per process, before pools are made. */
export function hookStatements(): StatementHook {
  if (installed) return installed;
  const seen = new Map<string, SeenStatement>();
  const names = new Map<string, number>();
  let sent = new Set<string>();
  let replacement: Replacement | undefined;
  let replaced = 0;

  function note(text: string, asked: unknown): void {
    sent.add(text);
    if (seen.has(text)) return;
    const name = nameOf(text, asked);
    if (name.startsWith(`${TEST}: `)) return;
    const count = (names.get(name) ?? 0) + 1;
    names.set(name, count);
    seen.set(text, { name: count === 1 ? name : `${name} (${count})`, text });
  }

  const { query: queryClient } = pg.Client.prototype;
  pg.Client.prototype.query = new Proxy(queryClient, {
    apply(target, self: pg.Client, [asked, ...rest]: unknown[]) {
      const sentText = textOf(asked);
      if (sentText === undefined) return Reflect.apply(target, self, [asked, ...rest]);
      const { text, schema } = inOurSchema(sentText);
      note(text, asked);
      if (replacement?.original !== text) return Reflect.apply(target, self, [asked, ...rest]);
      replaced += 1;
      const other = replacement.text.replaceAll("throughline.", `${schema}.`);
      const query = typeof asked === "string" ? other : withText(asked, other, `m${hash(other)}`);
      return Reflect.apply(target, self, [query, ...rest]);
    },
  });
  // Also here, where the stack still says who asks.
  const { query: queryPool } = pg.Pool.prototype;
  pg.Pool.prototype.query = new Proxy(queryPool, {
    apply(target, self: pg.Pool, args: unknown[]) {
      const text = textOf(args[0]);
      if (text !== undefined) note(inOurSchema(text).text, args[0]);
      return Reflect.apply(target, self, args);
    },
  });

  installed = {
    seen,
    takeSent() {
      const taken = sent;
      sent = new Set();
      return taken;
    },
    replace(by) {
      if (by?.text !== replacement?.text) replaced = 0;
      replacement = by;
    },
    replaced: () => replaced,
  };
  return installed;
}

const OURS_IN_SCHEMA =
  /\b([a-z_][a-z0-9_]*)\.(?:threads|runs|meta|entries|log_entries|entry_templates|snapshots|interrupts|stops|closures|thread_listings|migrations|start_run_\d+|join_envelope|insert_whole_entry|delete_entry)\b/;

/** Some tests have a schema of their own, where a statement is another text. */
function inOurSchema(text: string): { readonly text: string; readonly schema: string } {
  const schema = OURS_IN_SCHEMA.exec(text)?.[1] ?? "throughline";
  return { text: text.replaceAll(`${schema}.`, "throughline."), schema };
}

function textOf(asked: unknown): string | undefined {
  if (typeof asked === "string") return asked;
  if (typeof asked === "object" && asked !== null && "text" in asked && typeof asked.text === "string") {
    return asked.text;
  }
  return undefined;
}

/** A connection knows a prepared statement by its name: another text needs another name. */
function withText(asked: unknown, text: string, suffix: string): unknown {
  if (typeof asked !== "object" || asked === null) return asked;
  const name = "name" in asked && typeof asked.name === "string" ? { name: `${asked.name}_${suffix}` } : {};
  return { ...asked, ...name, text };
}

function hash(text: string): string {
  let code = 0;
  for (let i = 0; i < text.length; i++) code = (Math.imul(code, 31) + text.charCodeAt(i)) | 0;
  return (code >>> 0).toString(36);
}

function nameOf(text: string, asked: unknown): string {
  const plain = text
    .replace(/--[^\n]*/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const created = /^create (?:or replace )?function (?:\w+\.)?(\w+)/.exec(plain);
  if (created) return `function ${created[1]}`;
  const caller = callerOf(new Error().stack ?? "");
  if (typeof asked === "object" && asked !== null && "name" in asked && typeof asked.name === "string") {
    return `${caller}: ${asked.name.replace(/^[a-z]+_/, "")}`;
  }
  const words = plain.replace(/\bthroughline\./g, "").split(" ");
  const begins = words.slice(0, WORDS).join(" ");
  // Many begin alike.
  return `${caller}: ${begins}${words.length > 2 * WORDS ? ` … ${words.slice(-WORDS).join(" ")}` : ""}`;
}

/** The file that sends it. A test may send one of its own from within a call of ours: then it comes first in the stack. */
function callerOf(stack: string): string {
  const files = [...stack.matchAll(/src\/postgres\/((?:[\w-]+\/)*[\w-]+)(\.test)?\.ts/g)].map(
    ([, name = "", test]) => (test === undefined ? name : TEST),
  );
  const sender = files.find((name) => !PASSED_THROUGH.has(name) && name !== OPENS);
  const opener = files.includes(OPENS) ? OPENS : TEST;
  return sender === undefined || (sender === TEST && files[0] !== TEST) ? opener : sender;
}
