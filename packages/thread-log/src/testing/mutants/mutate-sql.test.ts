import { expect, it } from "vitest";
import { mutateSql } from "./mutate-sql.js";

const changes = (sql: string) => mutateSql(sql).map(({ change }) => change);

it("drops each condition, and keeps its parameters", () => {
  const sql = "select 1 from t where a = $1 and b between 1 and 2 and (c is null or c = $2) order by x";
  expect(mutateSql(sql).map(({ change, text }) => [change, text])).toEqual([
    ["drop: a = $1", sql.replace("a = $1", "((a = $1) or true)")],
    ["drop: b between 1 and 2", sql.replace("b between 1 and 2", "((b between 1 and 2) or true)")],
    [
      "drop: (c is null or c = $2)",
      sql.replace("(c is null or c = $2)", "(((c is null or c = $2)) or true)"),
    ],
    ["never: c is null", sql.replace("c is null", "((c is null) and false)")],
    ["never: c = $2", sql.replace("c = $2", "((c = $2) and false)")],
    ["turn order: x", sql.replace("by x", "by x desc")],
  ]);
});

it("finds conditions in subqueries, joins, joins after joins and functions", () => {
  expect(
    changes(`select * from a left join lateral (select 1 from b where left(b.x, 2) <> 'and' limit 1) b on b.y is distinct from a.y
      left join c on c.z = a.z where not exists (select 1 from d where d.q = 1)`),
  ).toEqual([
    "drop: left(b.x, 2) <> 'and'",
    "drop: b.y is distinct from a.y",
    "drop: c.z = a.z",
    "drop: not exists (select 1 from d where d.q = 1)",
    "drop: d.q = 1",
  ]);
  expect(
    changes(`create function f() returns void language plpgsql as $function$ begin
      if exists (select 1 from a where b) then return; end if;
      update a set x = case when y then 1 else 0 end where z; end $function$`),
  ).toEqual(["drop: exists (select 1 from a where b)", "drop: b", "never: y", "drop: z"]);
});

it("changes comparisons, locks, conflicts, orders, extremes and distinct", () => {
  expect(
    changes(
      "select greatest(a, b) from t where a <= 1 order by a desc, b limit 2 for update of t, r skip locked",
    ),
  ).toEqual([
    "drop: a <= 1",
    "< instead of: t where a <= 1 order by",
    "no lock: for update of t, r skip locked",
    "wait: skip locked",
    "turn order: a desc",
    "turn order: b",
    "greatest without: a",
    "greatest without: b",
  ]);
  expect(changes("insert into t values (1) on conflict do nothing returning a")).toEqual([
    "fail on conflict: on conflict do nothing",
  ]);
  expect(changes("insert into t values (1) on conflict (a) do update set b = 1 where t.c")).toEqual([
    "drop: t.c",
    "do nothing on conflict",
  ]);
  expect(changes("select 1 from a left join b on true where a.at < clock_timestamp()")).toEqual([
    "drop: a.at < clock_timestamp()",
  ]);
  expect(changes("select distinct on (a, b) a from t")).toEqual(["keep doubles: distinct on (a, b)"]);
});
