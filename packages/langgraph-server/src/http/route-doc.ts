import type { ErrorCode } from "@throughline/ai-core";
import type { z } from "zod";

export type RouteTag =
  | "agents"
  | "runs"
  | "threads"
  | "crons"
  | "attachments"
  | "feedback"
  | "account"
  | "spending"
  | "operations";

/** What the OpenAPI document says of a route. The schemas are those the route parses with, so that it can't say otherwise. */
export interface RouteDoc {
  /** A short sentence without a full stop: the operation's name in lists. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: RouteTag;
  /** Of the path; a plain non-empty string each where absent, but for names that mean the same everywhere. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Where the body is a file instead of JSON: the content types it may have. */
  readonly file?: readonly string[];
  readonly answer: RouteAnswer;
  /** Answers in place of that, where the request's headers ask for it or there is nothing to give. */
  readonly also?: readonly ConditionalAnswer[];
  /** An answer that is neither that nor an error. */
  readonly otherwise?: { readonly status: 503; readonly description: string; readonly schema: z.ZodType };
  /**
   * Refusals that come as a JSON error, beside those that follow from the rest: every request may be malformed or fail
   * (invalid_input, too_large, internal, shutting_down); who must sign in may be refused (unauthorized, forbidden); so may a body
   * (rate_limited) and the name of an agent (not_found, upstream_unavailable).
   */
  readonly errors: readonly ErrorCode[];
}

export type RouteAnswer =
  /** JSON; `orAs` is another content type that the request may ask for. */
  | {
      readonly status: 200 | 201 | 202;
      readonly description: string;
      readonly schema: z.ZodType;
      readonly orAs?: string;
    }
  | { readonly status: 204; readonly description: string }
  /** An event stream; `schema` is of what is answered at once instead, where that depends on the request. */
  | {
      readonly status: 200;
      readonly description: string;
      readonly events: z.ZodType;
      /** The data of the last event, where that is no JSON. */
      readonly lastData?: string;
      readonly schema?: z.ZodType;
    }
  /** Anything else that is no JSON. */
  | { readonly status: 200; readonly description: string; readonly contentType: string };

export type ConditionalAnswer =
  | { readonly status: 204; readonly description: string }
  | { readonly status: 206; readonly description: string; readonly contentType: string }
  | { readonly status: 304; readonly description: string }
  | { readonly status: 416; readonly description: string; readonly code: ErrorCode };
