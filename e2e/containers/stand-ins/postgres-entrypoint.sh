#!/bin/sh
# What the public image's entrypoint does with POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB, once.
set -eu
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

install -d -o postgres -g postgres -m 0700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  chown postgres /tmp/password
  as_postgres initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE \"$POSTGRES_DB\";" | as_postgres postgres --single -j -D "$PGDATA" postgres
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@" -c listen_addresses='*'
