import pg from "pg";

/** The type `bytea[]`, in which PostgresSaver reads the channels and writes of a checkpoint. */
const BYTEA_ARRAY: number = 1001;
const ELEMENT = '"\\\\x';

type ByteaArray = readonly (Buffer | null | ByteaArray)[];

/**
 * Type parsers for connections that read checkpoints. pg's own goes through an array character by character, and blocks the
 * process for a second per two megabytes of conversation, several times a run; this one goes from quote to quote.
 */
export const checkpointTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === BYTEA_ARRAY && format !== "binary") return parseByteaArray;
    return format === "binary" ? pg.types.getTypeParser(oid, format) : pg.types.getTypeParser(oid, "text");
  },
};

/** As PostgreSQL writes it with `bytea_output = hex`, its default; any other form is left to pg. */
export function parseByteaArray(text: string): ByteaArray {
  let at = 0;

  function array(): ByteaArray | undefined {
    const items: (Buffer | null | ByteaArray)[] = [];
    at += 1;
    while (at < text.length) {
      if (text[at] === "}") {
        at += 1;
        return items;
      }
      if (text[at] === ",") at += 1;
      else if (text[at] === "{") {
        const inner = array();
        if (inner === undefined) return undefined;
        items.push(inner);
      } else if (text.startsWith(ELEMENT, at)) {
        const end = text.indexOf('"', at + ELEMENT.length);
        items.push(Buffer.from(text.slice(at + ELEMENT.length, end), "hex"));
        at = end + 1;
      } else if (text.startsWith("NULL", at)) {
        items.push(null);
        at += "NULL".length;
      } else return undefined;
    }
    return undefined;
  }

  return (text.startsWith("{") ? array() : undefined) ?? pg.types.getTypeParser(BYTEA_ARRAY, "text")(text);
}
