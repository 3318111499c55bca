"use client";

import { type ComponentProps, type ReactNode, useEffect, useState } from "react";
import styles from "./button.module.css";
import { Icon, type IconName } from "./icon";

interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: "primary" | "plain" | "quiet" | "danger";
}

export function Button({ look = "plain", type = "button", className, ...rest }: ButtonProps): ReactNode {
  const names = [styles.button, styles[look], className].filter(Boolean).join(" ");
  return <button type={type} className={names} {...rest} />;
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "aria-label"> {
  readonly icon: IconName;
  /** Heard, and shown when a pointer rests on it. */
  readonly label: string;
}

export function IconButton({ icon, label, look = "quiet", className, ...rest }: IconButtonProps): ReactNode {
  const names = [styles.icon, className].filter(Boolean).join(" ");
  return (
    <Button look={look} aria-label={label} title={label} className={names} {...rest}>
      <Icon name={icon} />
    </Button>
  );
}

interface CopyButtonProps {
  /** What it copies, in words: "Copy path". */
  readonly label: string;
  readonly text: () => string;
  readonly icon?: IconName;
  /** With its label beside the icon. */
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
/** Whether it is on the clipboard now: a page that is not looked at may not write there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
