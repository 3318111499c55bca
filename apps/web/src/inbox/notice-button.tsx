"use client";

import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../agent-ui/primitives/button";
import { useStoredFlag } from "../agent-ui/primitives/stored-state";
import { clearNotified, NOTICES_FLAG } from "./notifications";
import styles from "./notifications.module.css";

/** Turns browser notifications on and off. Permission is requested by this press and never before. */
export function NoticeButton(): ReactNode {
  const [isWanted, setWanted] = useStoredFlag(NOTICES_FLAG);
  const [permission, setPermission] = useState<NotificationPermission>();
  useEffect(() => {
    if ("Notification" in window && "locks" in navigator) setPermission(Notification.permission);
  }, []);

  function turnOff(): void {
    setWanted(false);
    clearNotified();
  }

  async function turnOn(): Promise<void> {
    const answer = await Notification.requestPermission();
    setPermission(answer);
    if (answer === "granted") setWanted(true);
  }

  // No support, or an insecure context.
  if (permission === undefined) return null;
  if (permission === "denied") {
    return (
      <p className={styles.blocked}>
        This browser blocks notifications. Allow them in its settings for this page.
      </p>
    );
  }
  const isOn = isWanted && permission === "granted";
  return (
    <Button aria-pressed={isOn} onClick={() => (isOn ? turnOff() : void turnOn())}>
      {isOn ? "Notifications are on" : "Notify me"}
    </Button>
  );
}
