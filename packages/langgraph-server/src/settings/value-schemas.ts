import { availableParallelism } from "node:os";
import { graphNameSchema } from "@throughline/ai-core";
import { z } from "zod";

/** Schemas for the text of a variable or flag. Messages complete a sentence that begins with the setting's name. */
export const text = z.string().min(1);

export const wholeNumber = z
  .string()
  .regex(/^\d{1,12}$/, "takes a whole number")
  .transform(Number);

export const positiveNumber = wholeNumber.refine((value) => value > 0, "takes a whole number above 0");

const MAX_PROCESSES = 64;

export const processCount = z
  .string()
  .transform((value) => (value === "auto" ? String(Math.min(availableParallelism(), MAX_PROCESSES)) : value))
  .pipe(positiveNumber)
  .refine((count) => count <= MAX_PROCESSES, `takes at most ${MAX_PROCESSES}`);

export const duration = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,3})?$/, "takes milliseconds")
  .transform(Number);

export const portNumber = wholeNumber.refine((port) => port < 65_536, "takes a number below 65536");

export function urlOf(...protocols: readonly string[]): z.ZodType<string, string> {
  return text.refine(
    (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
    `takes a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  );
}

const ADDRESS = /^[\w.[\]:-]+$/;

/** Several URLs with commas between; those after the first may be plain addresses. A comma in a password is `%2C`. */
export function urlsOf(...protocols: readonly string[]): z.ZodType<string, string> {
  const isUrl = (value: string) => URL.canParse(value) && protocols.includes(new URL(value).protocol);
  const isNode = (value: string) =>
    isUrl(value) || (ADDRESS.test(value) && URL.canParse(`${protocols[0]}//${value}`));
  return text.refine(
    (value) => {
      const [first = "", ...rest] = value.split(",").map((part) => part.trim());
      return isUrl(first) && rest.every(isNode);
    },
    `takes a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}, or several with commas between`,
  );
}

export function oneOf<const Name extends string>(...names: readonly Name[]): z.ZodType<Name, string> {
  const isName = (value: string): value is Name => names.some((name) => name === value);
  return text.transform((value, context) => {
    if (isName(value)) return value;
    context.addIssue({ code: "custom", message: `takes one of ${names.join(", ")}` });
    return z.NEVER;
  });
}

/** One or more values, with commas between. */
export function someOf<const Name extends string>(
  ...names: readonly Name[]
): z.ZodType<readonly Name[], string> {
  const isName = (value: string): value is Name => names.some((name) => name === value);
  return text.transform((list, context): readonly Name[] => {
    const given = list.split(",").map((name) => name.trim());
    if (given.every(isName)) return [...new Set(given)];
    context.addIssue({ code: "custom", message: `takes some of ${names.join(", ")}, with commas between` });
    return z.NEVER;
  });
}

function originsWhere(isOrigin: (value: string) => boolean) {
  return text.transform((list, context): readonly string[] => {
    const each = list.split(",").map((origin) => origin.trim());
    const given = each.filter((origin) => origin !== "");
    if (given.every((value) => value === "*" || (URL.canParse(value) && isOrigin(value)))) return given;
    context.addIssue({
      code: "custom",
      message: "takes origins as https://app.example.com, with commas between",
    });
    return z.NEVER;
  });
}

export const origins = originsWhere((value) => new URL(value).origin === value);

export const httpsOrigins = originsWhere(
  (value) => new URL(value).origin === value && value.startsWith("https://"),
);

/** Names of commands by graph, as JSON. */
export const commandsByGraph: z.ZodType<Readonly<Record<string, readonly string[]>>, string> = text
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: "custom", message: "takes JSON" });
      return z.NEVER;
    }
  })
  .pipe(
    z.record(graphNameSchema, z.array(z.string().min(1).max(128)), {
      error: 'takes a JSON object of graph to commands, as {"support":["sync","fire"]}',
    }),
  );
