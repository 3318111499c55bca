/**
 * Migration 5. Entries are stored by template, and code from before it goes on reading and writing whole envelopes through a view
 * that bears the table's old name. Nothing is rewritten: a rename and two columns, under locks that are held for milliseconds
 * once they are granted. They are taken in the order in which an append takes them, so that the two can't wait for each other.
 */
export function entriesByTemplate(schema: string): readonly string[] {
  return [
    `lock table ${schema}.threads in access exclusive mode`,
    `lock table ${schema}.entries in access exclusive mode`,
    // Up to this seq entries may have been merged into later ones.
    `alter table ${schema}.threads add column compacted bigint not null default 0`,
    `alter table ${schema}.entries rename to log_entries`,
    `alter table ${schema}.log_entries rename column envelope to body`,
    // Null: the body is the whole envelope. Else the holes of this template. Eight columns, of which at least one is null, fit the
    // smallest row header.
    `alter table ${schema}.log_entries add column template bigint`,
    // Ids are random, by the writer. All entries of a token lie before the first of a higher one, so that token and first_seq
    // tell which templates a trimmed log still needs.
    `create table ${schema}.entry_templates (
      log_id bigint not null,
      id bigint not null,
      token bigint not null,
      first_seq bigint not null,
      parts text not null,
      primary key (log_id, id)
    )`,
    `create function ${schema}.join_envelope(parts text, holes text) returns text language sql immutable as $$
      select string_agg(concat(piece.part, piece.hole), '' order by piece.n)
      from unnest(string_to_array(parts, chr(31)), string_to_array(holes, chr(31))) with ordinality as piece (part, hole, n)
    $$`,
    `create view ${schema}.entries as
      select e.log_id, e.seq, e.at, e.bytes, e.end_of_run, case when e.template is null then e.body else
        ${schema}.join_envelope(
          (select p.parts from ${schema}.entry_templates p where p.log_id = e.log_id and p.id = e.template), e.body)
        end as envelope
      from ${schema}.log_entries e`,
    `create function ${schema}.insert_whole_entry() returns trigger language plpgsql as $$
      begin
        insert into ${schema}.log_entries (log_id, seq, at, bytes, end_of_run, body)
        values (new.log_id, new.seq, new.at, new.bytes, new.end_of_run, new.envelope)
        on conflict do nothing;
        -- A terminal may be recorded twice.
        if not found and new.end_of_run is null then
          raise unique_violation using message = 'The entry is there already.';
        end if;
        return new;
      end $$`,
    // A thread that is being deleted is marked before its entries go; its templates go with them.
    `create function ${schema}.delete_entry() returns trigger language plpgsql as $$
      begin
        delete from ${schema}.log_entries where log_id = old.log_id and seq = old.seq;
        delete from ${schema}.entry_templates p using ${schema}.threads t
        where p.log_id = old.log_id and t.log_id = old.log_id and t.deleted;
        return old;
      end $$`,
    `create trigger insert_whole instead of insert on ${schema}.entries
      for each row execute function ${schema}.insert_whole_entry()`,
    `create trigger delete_one instead of delete on ${schema}.entries
      for each row execute function ${schema}.delete_entry()`,
  ];
}
