import { DEFAULT_ATTACHMENT_LIMITS } from "../attachments/attachment-limits.js";
import { setting } from "./setting.js";
import { wholeNumber } from "./value-schemas.js";

/** Files that come with messages: named as in `AttachmentLimits`. 0 lets none of a kind in. */
export const ATTACHMENT_SETTINGS = {
  maxImageBytes: setting({
    env: "THROUGHLINE_MAX_IMAGE_BYTES",
    flag: "max-image-bytes",
    group: "limits",
    placeholder: "BYTES",
    doc: "How large an image that comes with a message may be.",
    schema: wholeNumber,
    fallback: DEFAULT_ATTACHMENT_LIMITS.maxImageBytes,
  }),
  maxAudioBytes: setting({
    env: "THROUGHLINE_MAX_AUDIO_BYTES",
    flag: "max-audio-bytes",
    group: "limits",
    placeholder: "BYTES",
    doc: "How large an audio file that comes with a message may be.",
    schema: wholeNumber,
    fallback: DEFAULT_ATTACHMENT_LIMITS.maxAudioBytes,
  }),
  maxVideoBytes: setting({
    env: "THROUGHLINE_MAX_VIDEO_BYTES",
    flag: "max-video-bytes",
    group: "limits",
    placeholder: "BYTES",
    doc: "How large a video that comes with a message may be.",
    schema: wholeNumber,
    fallback: DEFAULT_ATTACHMENT_LIMITS.maxVideoBytes,
  }),
  maxDocumentBytes: setting({
    env: "THROUGHLINE_MAX_DOCUMENT_BYTES",
    flag: "max-document-bytes",
    group: "limits",
    placeholder: "BYTES",
    doc: "How large a document that comes with a message may be.",
    schema: wholeNumber,
    fallback: DEFAULT_ATTACHMENT_LIMITS.maxDocumentBytes,
  }),
  maxAttachmentBytesPerThread: setting({
    env: "THROUGHLINE_MAX_ATTACHMENT_BYTES_PER_THREAD",
    flag: "max-attachment-bytes-per-thread",
    group: "limits",
    placeholder: "BYTES",
    doc: "How large all files of a thread together may be.",
    schema: wholeNumber,
    fallback: DEFAULT_ATTACHMENT_LIMITS.maxAttachmentBytesPerThread,
  }),
} as const;
