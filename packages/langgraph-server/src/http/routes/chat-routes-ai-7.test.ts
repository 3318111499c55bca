import { vi } from "vitest";

// The same tests with the newest major of the AI SDK.
vi.mock("ai", () => import("ai-7"));
await import("./chat-routes.test.js");
