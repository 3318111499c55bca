/** A test's database as the service opens it, for tests of packages that may not import thread-log. */
export { openPostgres, type PostgresDatabase } from "@throughline/thread-log";
