export default function Page() {
  return <p>Requests below /api are passed on to the Throughline service.</p>;
}
