import { createMemoryLedgerStore } from "@throughline/billing";
import { expect, it } from "vitest";
import { madeCall } from "../testing/made-call.js";
import { allUnits } from "./export-account.js";

it("A call that is priced while its account is exported is in the export once", async () => {
  const ledger = createMemoryLedgerStore();
  const unitId = await madeCall(ledger, { account: "acme" });
  const seen: unknown[] = [];
  for await (const row of allUnits(ledger, { account: "acme", subject: undefined })) {
    seen.push(row.unitId);
    await ledger.close(unitId, "unresolved", "no_evidence");
  }
  expect(seen).toEqual([unitId]);
});

it("Calls are exported page by page, each once", async () => {
  const ledger = createMemoryLedgerStore();
  const ids = new Set<unknown>();
  for (let call = 0; call < 501; call += 1) ids.add(await madeCall(ledger, { account: "acme", cost: "1" }));
  const seen: unknown[] = [];
  for await (const row of allUnits(ledger, { account: "acme", subject: undefined })) seen.push(row.unitId);
  expect(seen).toHaveLength(501);
  expect(new Set(seen)).toEqual(ids);
});
