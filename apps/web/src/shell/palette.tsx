"use client";

import { lazy, type ReactNode, Suspense, useState } from "react";
import { useModal } from "../agent-ui/primitives/dialog";
import styles from "./palette.module.css";

const load = () => import("./palette-body");
const PaletteBody = lazy(() => load().then((module) => ({ default: module.PaletteBody })));

/** Preloads the palette's code, for a press that is likely to come. */
export function preloadPalette(): void {
  void load();
}

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Command palette: finds pages and actions by a few letters. Its list is loaded on the first press. */
export function Palette({ isOpen, onClose }: PaletteProps): ReactNode {
  const ref = useModal(isOpen);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way out, and the browser's own
    <dialog
      ref={ref}
      className={styles.palette}
      aria-label="Find anything"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {isOpen && <OpenPalette onDone={onClose} />}
    </dialog>
  );
}

function OpenPalette({ onDone }: { readonly onDone: () => void }): ReactNode {
  const [typed, setTyped] = useState("");
  const [isEntered, setEntered] = useState(false);
  const type = (text: string) => {
    setTyped(text);
    setEntered(false);
  };
  return (
    <Suspense fallback={<LoadingPalette typed={typed} onType={type} onEnter={() => setEntered(true)} />}>
      <PaletteBody typed={typed} isEntered={isEntered} onType={setTyped} onDone={onDone} />
    </Suspense>
  );
}

/** Field that holds typed text and Enter until the list is loaded. */
function LoadingPalette(props: {
  readonly typed: string;
  readonly onType: (typed: string) => void;
  readonly onEnter: () => void;
}): ReactNode {
  return (
    <div className={styles.sheet}>
      <div className={styles.head}>
        <input
          className={styles.input}
          aria-label="Find an agent, a thread, a message or an action"
          value={props.typed}
          autoComplete="off"
          data-autofocus
          onKeyDown={(event) => event.key === "Enter" && props.onEnter()}
          onChange={(event) => props.onType(event.target.value)}
        />
      </div>
    </div>
  );
}
