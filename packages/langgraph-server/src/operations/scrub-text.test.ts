import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrubText } from "./redaction.js";

const letters = (alphabet: string, minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength, maxLength }).map((signs) => signs.join(""));
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC = `${LOWER}${LOWER.toUpperCase()}0123456789`;
const BASE64URL = `${ALPHANUMERIC}-_`;
const base64 = fc.uint8Array({ minLength: 30, maxLength: 400 }).map((bytes) => Buffer.from(bytes));
const password = letters(`${ALPHANUMERIC}!$%*+,-./:;=@^_~`, 6, 40);
const key = letters(ALPHANUMERIC, 16, 60);

/** A message with a secret in it, and the secret. */
type Planted = readonly [message: string, secret: string];

const kinds: Readonly<Record<string, fc.Arbitrary<Planted>>> = {
  "the password of a connection string": password.map((secret) => [
    `connect to postgres://throughline:${secret}@db.internal:5432/app failed`,
    secret,
  ]),
  "the password of a URL without a user": password.map((secret) => [`redis://:${secret}@cache:6379`, secret]),
  "the user of a URL": key.map((secret) => [`GET https://${secret}@api.example.com/v1/models: 401`, secret]),
  "the query of a URL": letters(BASE64URL, 8, 60).map((secret) => [
    `GET https://files.example.com/a.png?signature=${secret}&x=1 timed out`,
    secret,
  ]),
  "the query of a path": key.map((secret) => [`404 GET /files/a?t=${secret}`, secret]),
  "a setting that names a secret": fc
    .tuple(
      fc.constantFrom("password", "PGPASSWORD", "api_key", "client_secret", "x-api-key"),
      letters(ALPHANUMERIC, 4, 30),
    )
    .map(([name, secret]) => [`host=db ${name}=${secret} dbname=app`, secret]),
  "a JSON field that names a secret": fc
    .tuple(
      fc.constantFrom("password", "apiKey", "access_token", "clientSecret"),
      letters(ALPHANUMERIC, 4, 30),
    )
    .map(([name, secret]) => [`400 {"${name}":"${secret}","n":1}`, secret]),
  "a bearer token": letters(BASE64URL, 8, 200).map((secret) => [
    `rejected: Bearer ${secret}, expired`,
    secret,
  ]),
  "a JSON Web Token": fc
    .tuple(letters(BASE64URL, 12, 60), letters(BASE64URL, 12, 80), letters(BASE64URL, 20, 60))
    .map(([header, payload, signature]) => {
      const secret = `eyJ${header}.${payload}.${signature}`;
      return [`token ${secret} is not valid`, secret];
    }),
  "a provider's key": fc
    .tuple(
      fc.constantFrom("sk-", "sk-proj-", "sk-ant-", "lsv2_pt_", "ghp_", "hf_"),
      letters(ALPHANUMERIC, 12, 60),
    )
    .map(([prefix, rest]) => [`Incorrect API key provided: ${prefix}${rest}.`, `${prefix}${rest}`]),
  "a key of hexadecimal digits": letters("0123456789abcdef", 32, 64).map((secret) => [
    `no access with ${secret}`,
    secret,
  ]),
  "long base64": base64.map((bytes) => {
    const secret = bytes.toString("base64");
    return [`could not decode ${secret}`, secret];
  }),
  "long URL-safe base64": base64.map((bytes) => {
    const secret = bytes.toString("base64url");
    return [`could not decode ${secret}`, secret];
  }),
  "an e-mail address": fc
    .tuple(letters(`${LOWER}0123456789`, 1, 20), letters(LOWER, 2, 20))
    .map(([name, host]) => [`no user ${name}.x@${host}.example.com here`, `${name}.x@${host}`]),
  "a long quotation": fc
    .tuple(fc.constantFrom('"', "'", "`"), fc.array(letters(LOWER, 3, 9), { minLength: 15, maxLength: 30 }))
    .map(([quote, words]) => [`invalid value ${quote}${words.join(" ")}${quote} given`, words.join(" ")]),
  "a quotation that goes on behind the first line": fc
    .array(letters(LOWER, 3, 9), { minLength: 15, maxLength: 30 })
    .map((words) => [`invalid value "${words.join(" ")}\nand more" given`, words.join(" ")]),
  "anything behind the first line": key.map((secret) => [`failed\n${secret}`, secret]),
};

/** Pieces that would still give a secret away. */
function piecesOf(secret: string): string[] {
  const length = Math.min(secret.length, 12);
  return Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length));
}

describe("scrubText", () => {
  it.each(Object.entries(kinds))("lets nothing through of %s, wherever it stands", (_, kind) => {
    const before = fc.constantFrom(
      "",
      "Error: ",
      "request 42 failed, ",
      "x".repeat(290),
      "word ".repeat(450),
    );
    fc.assert(
      fc.property(kind, before, ([message, secret], prefix) => {
        const scrubbed = scrubText(`${prefix}${message}`);
        expect(piecesOf(secret).filter((piece) => scrubbed.includes(piece))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    "connect ECONNREFUSED 127.0.0.1:5432",
    'duplicate key value violates unique constraint "runs_one_running"',
    'relation "throughline.cron_ticks" does not exist',
    "terminating connection due to idle-in-transaction timeout",
    "canceling statement due to statement timeout",
    'password authentication failed for user "throughline"',
    "Cannot read properties of undefined (reading 'messages')",
    "ENOENT: no such file or directory, open '/srv/app/langgraph.json'",
    "Unexpected token: } in JSON at position 7",
    "can't reach the server, and won't be able to for a while, because it isn't running",
    "Recursion limit of 25 reached without hitting a stop condition.",
    "request to https://api.example.com/v1/chat/completions failed, reason: socket hang up",
    "run 0197f3c2-7f5e-7b5a-9c31-2f4f6f0a9d11 has no checkpoint",
    "Cannot find module '@langchain/langgraph-checkpoint-postgres'",
    "parameter idle_in_transaction_session_timeout is out of range",
    "createAggregatingGraphExecutor is not a function",
    "at /home/me/project/packages/langgraph-server/src/operations/logger",
    "Invalid option: expected one of skip|enqueue",
    "Bearer authentication is required",
  ])("leaves an ordinary message as it is: %s", (message) => {
    expect(scrubText(message)).toBe(message);
  });

  it("leaves short sentences of words and numbers as they are", () => {
    const word = fc.oneof(letters(LOWER, 1, 12), fc.nat(99_999).map(String));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
        const sentence = words.join(" ");
        expect(scrubText(sentence)).toBe(sentence);
      }),
    );
  });

  it("says what it replaced, and changes nothing when it is applied again", () => {
    const message =
      'GET https://me:hush@api.example.com/v1?key=hush for ann@example.com: Bearer hush-hush, "a"';
    const scrubbed = 'GET https://[secret]@api.example.com/v1?[query] for [e-mail]: Bearer [secret], "a"';
    expect(scrubText(message)).toBe(scrubbed);
    expect(scrubText(scrubbed)).toBe(scrubbed);
    fc.assert(
      fc.property(fc.oneof(...Object.values(kinds)), ([planted]) => {
        expect(scrubText(scrubText(planted))).toBe(scrubText(planted));
      }),
    );
  });

  it("is at most 300 characters, without signs that a terminal would act on, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3_000 }), (text) => {
        const scrubbed = scrubText(text);
        expect(scrubbed.length).toBeLessThanOrEqual(300);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
        expect(scrubbed).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it("takes no longer for a text that was made to be slow", () => {
    const started = performance.now();
    for (const sign of ["a", "a.", "a@", "a:", "://", "'", "=", "eyJ", "password=", '" ', "? ", "_-"]) {
      scrubText(sign.repeat(2_000).slice(0, 2_000));
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
