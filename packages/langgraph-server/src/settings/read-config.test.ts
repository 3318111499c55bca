import { describe, expect, it } from "vitest";
import { readConfig } from "./server-config.js";

describe("the server's configuration", () => {
  it("needs nothing: a laptop gets loopback, dev sign-in and an embedded database", () => {
    expect(readConfig({ PATH: "/bin" })).toMatchObject({
      host: "127.0.0.1",
      port: undefined,
      databaseUrl: undefined,
      backend: { kind: "inproc" },
      signIn: { kind: "dev" },
      corsOrigins: [],
    });
  });

  it.each([
    ["THROUGHLINE_JWT_ISSUER", { THROUGHLINE_JWT_AUDIENCE: "throughline" }],
    ["THROUGHLINE_JWT_AUDIENCE", { THROUGHLINE_JWT_ISSUER: "https://id.example.com" }],
  ])("refuses published keys without %s", (missing, given) => {
    const keys = { THROUGHLINE_JWKS_URL: "https://id.example.com/jwks" };
    expect(() => readConfig({ ...keys, ...given })).toThrow(`${missing} is missing`);
  });

  it("reads published keys over http from this machine only", () => {
    const about = { THROUGHLINE_JWT_ISSUER: "us", THROUGHLINE_JWT_AUDIENCE: "throughline" };
    const of = (url: string) => () => readConfig({ ...about, THROUGHLINE_JWKS_URL: url });
    expect(of("http://id.example.com/jwks")).toThrow("https://");
    expect(of("http://localhost:4000/jwks")).not.toThrow();
  });

  it("takes an empty variable for an unset one", () => {
    expect(readConfig({ PORT: "", THROUGHLINE_JWT_SECRET: "" })).toMatchObject({ signIn: { kind: "dev" } });
  });

  it("reads sign-in, claims and origins", () => {
    const config = readConfig({
      THROUGHLINE_JWKS_URL: "https://id.example.com/jwks",
      THROUGHLINE_JWT_ISSUER: "https://id.example.com",
      THROUGHLINE_JWT_AUDIENCE: "throughline",
      THROUGHLINE_JWT_SUBJECT_CLAIM: "none",
      THROUGHLINE_CORS_ORIGINS: "https://app.example.com, http://localhost:3000",
    });
    expect(config.signIn).toEqual({
      kind: "jwt",
      keys: { jwksUrl: new URL("https://id.example.com/jwks") },
      issuer: "https://id.example.com",
      audience: "throughline",
      claims: { subject: null },
    });
    expect(config.corsOrigins).toEqual(["https://app.example.com", "http://localhost:3000"]);
  });

  it("keeps what retention says, without end where it says 0", () => {
    expect(readConfig({}).retention).toEqual({
      maxEntries: 500_000,
      maxBytes: 536_870_912,
      maxAgeMs: 90 * 86_400_000,
      compactAfterMs: 7 * 86_400_000,
      checkpoints: { keepNewest: 100, keepYoungerMs: 7 * 86_400_000 },
      receiptAgeMs: 365 * 86_400_000,
    });
    const env = {
      THROUGHLINE_RETENTION_CHECKPOINTS: "0",
      THROUGHLINE_RETENTION_RECEIPT_DAYS: "0",
      THROUGHLINE_RETENTION_MAX_ENTRIES: "0",
      THROUGHLINE_RETENTION_MAX_BYTES: "1000",
      THROUGHLINE_RETENTION_MAX_AGE_DAYS: "0",
      THROUGHLINE_COMPACT_AFTER_DAYS: "0",
    };
    expect(readConfig(env).retention).toEqual({ maxBytes: 1_000 });
    const byCount = { THROUGHLINE_RETENTION_CHECKPOINTS: "5", THROUGHLINE_RETENTION_CHECKPOINT_DAYS: "0" };
    expect(readConfig(byCount).retention.checkpoints).toEqual({ keepNewest: 5 });
  });

  it("bounds files and crons", () => {
    expect(readConfig({})).toMatchObject({
      maxCrons: 100,
      attachmentLimits: { maxImageBytes: 10_485_760, maxAttachmentBytesPerThread: 209_715_200 },
    });
    const env = { THROUGHLINE_MAX_CRONS: "0", THROUGHLINE_MAX_VIDEO_BYTES: "7" };
    expect(readConfig(env)).toMatchObject({ maxCrons: 0, attachmentLimits: { maxVideoBytes: 7 } });
  });

  it.each([
    ["PORT", "eighty"],
    ["PORT", "65536"],
    ["LANGGRAPH_DATABASE_URL", "mysql://localhost"],
    ["REDIS_URL", "localhost:6379"],
    ["REDIS_URL", "redis://user:12,secret@cache"],
    ["LANGGRAPH_DEV_URL", "localhost"],
    ["THROUGHLINE_JWT_SECRET", "too short"],
    ["THROUGHLINE_JWKS_URL", "id.example.com"],
    ["THROUGHLINE_CORS_ORIGINS", "app.example.com"],
    ["THROUGHLINE_MAX_WATCHERS", "-1"],
    ["THROUGHLINE_MAX_CRONS", "many"],
    ["THROUGHLINE_MAX_IMAGE_BYTES", "10 MB"],
    ["THROUGHLINE_LOG_LEVEL", "loud"],
    ["THROUGHLINE_JWT_SECERT", "misspelt"],
  ])("refuses %s=%s by the variable's name, never with its value", (name, value) => {
    const refuse = () => readConfig({ [name]: value });
    expect(refuse).toThrow(new RegExp(`^${name}`));
    if (name.includes("SEC")) expect(refuse).not.toThrow(value);
  });

  it("refuses a server's own address without the address of the pooler", () => {
    const direct = { LANGGRAPH_DATABASE_DIRECT_URL: "postgres://db/app" };
    expect(() => readConfig(direct)).toThrow(
      /^LANGGRAPH_DATABASE_DIRECT_URL is set and LANGGRAPH_DATABASE_URL/,
    );
    expect(readConfig({ ...direct, LANGGRAPH_DATABASE_URL: "postgres://pooler/app" })).toMatchObject({
      databaseDirectUrl: "postgres://db/app",
    });
  });

  it("refuses two ways to sign in, and two backends", () => {
    const secret = "a secret that is long enough to be one";
    expect(() =>
      readConfig({ THROUGHLINE_JWT_SECRET: secret, THROUGHLINE_JWKS_URL: "https://id.example.com" }),
    ).toThrow("both set");
    expect(() => readConfig({ LANGGRAPH_DEV_URL: "http://a", LANGGRAPH_SERVER_URL: "http://b" })).toThrow(
      "both set",
    );
  });
});
