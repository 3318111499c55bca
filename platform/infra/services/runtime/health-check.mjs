// node health-check.mjs URL: exits with 0 if it answers well. The images have no curl.
const answer = await fetch(process.argv[2]).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
