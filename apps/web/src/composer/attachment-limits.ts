type AttachmentKind = "image" | "audio" | "video" | "document";

const MB = 1_048_576;

/** What the service takes, so that a person is told before anything is sent. The service has the last word. */
const LIMITS: Readonly<
  Record<AttachmentKind, { readonly types: readonly string[]; readonly bytes: number }>
> = {
  image: { types: ["png", "jpeg", "jpg", "gif", "webp"].map((name) => `image/${name}`), bytes: 10 * MB },
  audio: {
    // Browsers have several names for some of them; the service knows these.
    types: ["wav", "x-wav", "wave", "mp3", "mpeg", "mp4", "m4a", "x-m4a", "aac", "ogg", "webm", "flac"].map(
      (name) => `audio/${name}`,
    ),
    bytes: 25 * MB,
  },
  video: { types: ["mp4", "webm", "mpeg", "quicktime"].map((name) => `video/${name}`), bytes: 50 * MB },
  document: {
    types: [
      "application/pdf",
      "text/plain",
      "text/markdown",
      "text/csv",
      "application/json",
      ...["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
        (name) => `application/vnd.openxmlformats-officedocument.${name}`,
      ),
    ],
    bytes: 20 * MB,
  },
};

/** Browsers name no type for some files that everybody knows by their ending. */
const TYPE_OF_ENDING: Readonly<Record<string, string>> = {
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  txt: "text/plain",
  log: "text/plain",
  json: "application/json",
};

export const ACCEPTED = [
  ...Object.values(LIMITS).flatMap(({ types }) => types),
  ...Object.keys(TYPE_OF_ENDING).map((ending) => `.${ending}`),
].join(",");

type CheckedFile =
  | { readonly kind: AttachmentKind; readonly mimeType: string; readonly problem?: undefined }
  | { readonly problem: string };

export function checkFile({
  name,
  type,
  size,
}: {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}): CheckedFile {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const mimeType = type.split(";")[0] || TYPE_OF_ENDING[ending] || "";
  const found = (["image", "audio", "video", "document"] as const).find((kind) =>
    LIMITS[kind].types.includes(mimeType),
  );
  if (found === undefined) {
    return {
      problem: "This kind of file can't be attached. Pictures, sound, video, PDF, text and Office files can.",
    };
  }
  const { bytes } = LIMITS[found];
  if (size > bytes) return { problem: `Too large: at most ${bytes / MB} MB for ${WORDS[found]}.` };
  if (size === 0) return { problem: "This file is empty." };
  return { kind: found, mimeType };
}

const WORDS: Readonly<Record<AttachmentKind, string>> = {
  image: "a picture",
  audio: "sound",
  video: "a video",
  document: "a document",
};
