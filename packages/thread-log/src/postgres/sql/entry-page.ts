/**
 * Two lateral joins that give a page of a thread's entries (`page.lines`) and the templates they use (`used.templates`), each
 * as one text; `t` is the thread's row. Lines are joined by U+001E and their fields by U+001F, neither of which JSON holds
 * unescaped: `seq`, the template's id or nothing, and the entry's body. Rows of a column each would cost several times as much
 * to send and to read, and a template travels once instead of with every entry. Locks nothing.
 */
export function entryPage(schema: string, { where, limit }: { where: string; limit: string }): string {
  return `
left join lateral (
  select
    string_agg(e.seq || chr(31) || coalesce(e.template::text, '') || chr(31) || e.body, chr(30) order by e.seq) as lines,
    array_agg(distinct e.template) filter (where e.template is not null) as templates
  from (
    select seq, template, body from ${schema}.log_entries
    where log_id = t.log_id and seq >= t.floor and ${where}
    order by seq limit ${limit}
  ) e
) page on true
left join lateral (
  select string_agg(p.id || chr(31) || p.parts, chr(30)) as templates from ${schema}.entry_templates p
  where p.log_id = t.log_id and p.id = any(page.templates)
) used on true`;
}

/**
 * Where a reader at `position` has to begin instead: null, unless the position was merged into a later entry by compaction.
 * Then it is the last one before it that was not. One index descent, and only below what was compacted.
 */
export function resumeAt(schema: string, position: string): string {
  return `
case when ${position} >= t.floor and ${position} < t.compacted then (
  select nullif(coalesce(max(e.seq), t.floor - 1), ${position}) from ${schema}.log_entries e
  where e.log_id = t.log_id and e.seq between t.floor and ${position}) end`;
}
