import type { JsonObject } from "@throughline/ai-core";

/** A JSON Schema of the 2020-12 draft, as OpenAPI 3.1 embeds it. */
export type JsonSchema = JsonObject;

export interface Reference {
  readonly $ref: string;
}

export interface MediaType {
  /** For an event stream the schema of each event, as OpenAPI 3.2 has it and tools read 3.1. */
  readonly schema: JsonSchema;
}
export type Content = Readonly<Record<string, MediaType>>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Empty for routes without sign-in. */
  readonly security?: readonly [];
  /** The policy action that callers need, or `by_request` where the body names it. */
  readonly "x-throughline-action"?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, OpenApiResponse | Reference>>;
}

export type OperationMethod = "get" | "post" | "put" | "patch" | "delete";

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<OperationMethod, Operation>>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly headers: Readonly<
      Record<
        string,
        { readonly description: string; readonly required?: boolean; readonly schema: JsonSchema }
      >
    >;
    /** `x-throughline-schema`: what the header of a scheme may hold. */
    readonly securitySchemes: Readonly<Record<string, JsonObject>>;
  };
}
