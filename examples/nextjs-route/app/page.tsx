import { throughline } from "../lib/throughline";

export const dynamic = "force-dynamic";

export default async function Page() {
  const { routes } = await throughline();
  return <p>{routes.length} routes are served by this app. The agent is called echo.</p>;
}
