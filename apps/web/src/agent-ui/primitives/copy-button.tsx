"use client";

import { type ReactNode, useEffect, useState } from "react";
import { Button, IconButton } from "./button";
import { copyText } from "./copy-text";
import { Icon, type IconName } from "./icon";

export interface CopyButtonProps {
  /** The action as a phrase: "Copy path". */
  readonly label: string;
  readonly text: () => string;
  readonly icon?: IconName;
  /** Shows the label next to the icon. */
  readonly isWordy?: boolean;
  readonly disabled?: boolean;
  readonly className?: string;
}

const SHOWN_MS = 1_600;

export function CopyButton({
  label,
  text,
  icon: ownIcon = "copy",
  isWordy = false,
  disabled,
  className,
}: CopyButtonProps): ReactNode {
  const [outcome, setOutcome] = useState<"copied" | "refused">();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);

  const copy = async () => setOutcome((await copyText(text())) ? "copied" : "refused");
  const icon = outcome === "copied" ? "check" : ownIcon;
  const shown = outcome === "copied" ? "Copied" : outcome === "refused" ? "The browser refused" : label;
  const shared = {
    onClick: () => void copy(),
    ...(disabled !== undefined && { disabled }),
    ...(className !== undefined && { className }),
  };
  return (
    <>
      {isWordy ? (
        <Button look="quiet" {...shared}>
          <Icon name={icon} />
          {shown}
        </Button>
      ) : (
        <IconButton icon={icon} label={label} {...shared} />
      )}
      <span className="visually-hidden" role="status">
        {outcome !== undefined && shown}
      </span>
    </>
  );
}
