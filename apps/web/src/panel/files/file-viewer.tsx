"use client";

import type { ReactNode } from "react";
import { CodeBlock } from "../../conversation/markdown/code-block";
import { Markdown } from "../../conversation/markdown/markdown";
import { CopyButton } from "../../design/copy-button";
import { Dialog } from "../../design/dialog";
import { RelativeTime } from "../../design/relative-time";
import styles from "./file-viewer.module.css";
import type { AgentFile } from "./read-files";

interface FileViewerProps {
  /** Current state: an agent that writes on writes here. */
  readonly file: AgentFile | undefined;
  readonly onClose: () => void;
}

export function FileViewer({ file, onClose }: FileViewerProps): ReactNode {
  return (
    <Dialog
      isOpen={file !== undefined}
      onClose={onClose}
      title={file?.path ?? ""}
      size="large"
      actions={file && <CopyButton label="Copy the file" text={() => file.content} isWordy />}
    >
      {file?.modifiedAt !== undefined && (
        <p className={styles.written}>
          Written <RelativeTime at={file.modifiedAt} />
        </p>
      )}
      {file && <Content file={file} />}
    </Dialog>
  );
}

function Content({ file }: { readonly file: AgentFile }): ReactNode {
  const ending = /\.(\w+)$/.exec(file.path)?.[1]?.toLowerCase() ?? "";
  if (ending === "md" || file.mimeType === "text/markdown") return <Markdown text={file.content} />;
  return <CodeBlock code={file.content} language={ending} isGrowing={false} />;
}
