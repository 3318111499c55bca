import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { sourceFiles } from "./source-files.ts";

/** What an import graph cannot say: rules about the text of a file, or about its being there at all. */
interface SourceRule {
  readonly name: string;
  readonly because: string;
  readonly breaks: (path: string, text: string) => boolean;
}

const isTypeScript = (path: string) => /\.[cm]?tsx?$/.test(path);

const CONTRACTS = "AiEvent|UsageFact|ExecutorType|RunContext";
/** A declaration, not an import, an export list or a mention. */
const DECLARES_CONTRACT = new RegExp(
  `\\b(?:type|interface|class|enum|const|let|var|function|namespace)\\s+(?:${CONTRACTS})\\b\\s*(?:[=:<{(]|extends\\b)`,
);
const WRITES_RECEIPTS =
  /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?|copy)\s+(?:only\s+)?[\w."]*charge_receipts\b/i;

/** What ships, rather than what tests it. */
const SHIPS =
  /^(?:packages|apps)\/[^/]+\/src\/(?!.*(?:\.test\.tsx?$|\/?(?:testing|behaviour|conformance|kill)\/))/;
const HARD_CODED_KEY = /\bsk-[A-Za-z0-9_-]{6,}/;
/** Names of providers' models, as they would stand in a literal. */
const HARD_CODED_MODEL =
  /["'`/](?:gpt-\d|chatgpt-|o[1-9](?:-(?:mini|pro|preview))?["'`]|claude-[a-z0-9]|gemini-\d|llama-?\d|mistral-|deepseek-|qwen[\d-])/i;

/** A chat model by its class: LangChain names them all `Chat` and a provider. */
const MAKES_MODEL =
  /\bnew\s+Chat(?:OpenAI|Anthropic|GoogleGenerativeAI|VertexAI|MistralAI|Groq|Ollama|Bedrock\w*)\s*\(/;
/** `initChatModel` at the beginning of a line is outside every function. */
const MODULE_LEVEL_MODEL = /^(?:export\s+)?(?:const|let|var)\s[^=\n]*=\s*(?:await\s+)?initChatModel\s*\(/m;

/** Words that the glossary replaces by the field's own. */
const REPLACED_WORDS =
  /^(?:tell|tells|telling|told|untold|teller|say|says|saying|said|hear|hears|heard|stand|stands|stood|whoever|whichever|nobody|somebody|anew|wish|wishes|beside|letgo)$/i;
/** In identifiers only: in a sentence things have places. */
const REPLACED_NAMES = /^(?:place|places|placed)$/i;

/** Identifiers that keep such a word, with the reason. */
const EXCEPTED_NAMES: readonly {
  readonly names: RegExp;
  readonly paths: RegExp;
  readonly because: string;
}[] = [
  {
    names: /^said$/,
    paths:
      /^packages\/langgraph-server\/src\/(?:threads|runs|server|streams)\/|^packages\/stream-adapter\/src\/checkpoint\//,
    because: "the table and column of indexed messages, and the fields that are read from them",
  },
  {
    names: /^said$/,
    paths: /^packages\/(?:cli\/src\/commands\/maintenance|thread-log\/src\/postgres\/schema\/migrate)\.ts$/,
    because: "a field of what `throughline doctor --json` prints",
  },
  {
    names: /^placed$/,
    paths: /^packages\/reading\/src\/fold\//,
    because: "a field of stored snapshots",
  },
  {
    names: /places$/i,
    paths: /^packages\/langgraph-graphs\/src\/travel\//,
    because: "places that people travel to",
  },
];

function isExcepted(path: string, name: string): boolean {
  return EXCEPTED_NAMES.some(({ names, paths }) => names.test(name) && paths.test(path));
}

const wordsOf = (text: string) => text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[^A-Za-z]+/);
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;

/** Whether an identifier or a comment uses a replaced word. Strings may: they are texts, rows and names on the wire. */
function usesReplacedWord(path: string, text: string): boolean {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const isReplaced = (name: string) =>
    wordsOf(name).some((word) => REPLACED_WORDS.test(word) || REPLACED_NAMES.test(word));
  let found = false;
  const visit = (node: ts.Node): void => {
    if (found) return;
    if (ts.isIdentifier(node) && isReplaced(node.text) && !isExcepted(path, node.text)) found = true;
    ts.forEachChild(node, visit);
  };
  visit(source);
  if (found) return true;
  const inString = (at: number) => {
    const token = tokenAt(source, at);
    return ts.isStringLiteralLike(token) || ts.isTemplateLiteralToken(token) || ts.isJsxText(token);
  };
  return [...text.matchAll(COMMENT)].some(
    ({ 0: comment, index }) => wordsOf(comment).some((word) => REPLACED_WORDS.test(word)) && !inString(index),
  );
}

/** The innermost node whose text, without the comments before it, holds a position. */
function tokenAt(node: ts.Node, at: number): ts.Node {
  const inner = node.getChildren().find((child) => child.getStart() <= at && at < child.getEnd());
  return inner ? tokenAt(inner, at) : node;
}

export const sourceRules: readonly SourceRule[] = [
  {
    name: "SINGLE_SOURCE_OF_TRUTH",
    because: "AiEvent, UsageFact, ExecutorType and RunContext are declared in packages/ai-core only",
    breaks: (path, text) =>
      isTypeScript(path) && !path.startsWith("packages/ai-core/") && DECLARES_CONTRACT.test(text),
  },
  {
    name: "NO_TS_IN_PLATFORM",
    because: "platform/ packages what packages/ holds; it has no logic of its own",
    breaks: (path) => path.startsWith("platform/") && isTypeScript(path),
  },
  {
    name: "NO_MODULE_LEVEL_MODEL",
    because: "a model is made per call by create-model.ts, with the caller's key and the chosen model",
    breaks: (path, text) =>
      isTypeScript(path) &&
      !path.endsWith("/create-model.ts") &&
      (MAKES_MODEL.test(text) || (SHIPS.test(path) && MODULE_LEVEL_MODEL.test(text))),
  },
  {
    name: "NO_HARD_CODED_KEY_OR_MODEL",
    because:
      "keys come from a KeyResolver and models from LiteLLM's list: one in the source would bill the wrong tenant",
    breaks: (path, text) => SHIPS.test(path) && (HARD_CODED_KEY.test(text) || HARD_CODED_MODEL.test(text)),
  },
  {
    name: "ONLY_BILLING_WRITES_RECEIPTS",
    because: "a receipt that two places write is charged twice; ask packages/billing",
    breaks: (path, text) => !path.startsWith("packages/billing/") && WRITES_RECEIPTS.test(text),
  },
  {
    name: "FIELD_VOCABULARY",
    because: "code is found by the field's words: docs/glossary.md has the one for each of ours",
    breaks: (path, text) => SHIPS.test(path) && isTypeScript(path) && usesReplacedWord(path, text),
  },
];

interface Breach {
  readonly rule: string;
  readonly path: string;
  readonly because: string;
}

export function sourceBreaches(root: string): Breach[] {
  return sourceFiles(root).flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return sourceRules
      .filter((rule) => rule.breaks(path, text))
      .map(({ name, because }) => ({ rule: name, path, because }));
  });
}
