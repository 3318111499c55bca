// The load of `npm run load` in its short form, beside peers: what a token waits, what is lost, what it costs.
import { atMost } from "../targets.mjs";
import { measureBurn, measureKill } from "./isolation.mjs";
import { measureLoad } from "./measure-load.mjs";
import { PEERS, withOurService, withSubject } from "./with-subject.mjs";

/** Until compilers are done, of which two processes have two. */
const WARM_SECONDS = 40;
const LOAD = { runs: 10, viewers: 5, comesBackEverySeconds: 5 };

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const load = { ...LOAD, seconds: quick ? 10 : 40 };
  const plain = { ...load, comesBackEverySeconds: undefined, viewers: 2 };
  const ours = (options, work) => withOurService(options, progress, work);
  const tell = (text) => progress(`  ${text}`);
  tell(
    `${load.runs} runs, ${load.viewers} viewers each, who come back every ${load.comesBackEverySeconds} s`,
  );
  const own = await ours({}, (subject) => measureLoad(subject, load));
  const peers = {};
  for (const start of Object.values(PEERS).flat()) {
    await withSubject(
      () => start(load),
      async (subject) => {
        tell(subject.name);
        peers[subject.name] = await measureLoad(subject, load);
      },
    );
  }
  tell("one process and two, side by side");
  // What a run costs depends on how busy the machine is: commits carry more where they have to wait.
  const warm = { ...plain, warmSeconds: quick ? 5 : WARM_SECONDS };
  const [one, two] = await Promise.all([
    ours({}, (subject) => measureLoad(subject, warm)),
    ours({ processes: 2 }, (subject) => measureLoad(subject, warm)),
  ]);
  tell("beside a graph that burns CPU");
  const burn = await ours({ roles: true }, (subject) => measureBurn(subject, plain));
  tell("a worker is killed");
  const kill = await ours({ roles: true }, (subject) => measureKill(subject, plain));
  return report({ own, peers, one, two, burn, kill });
}

function report({ own, peers, one, two, burn, kill }) {
  const cpu = (result) => perRun(result);
  return {
    ours: {
      ...groupsOf("throughline", own),
      "commit lag ms": own["commit lag ms"],
      "CPU ms per run and second": { "one process": cpu(one), "two processes": cpu(two) },
      "beside a graph that burns CPU": {
        ...burn["driven elsewhere"]["token lag ms"],
        runs: burn["driven elsewhere"].runs,
        "commit lag p99": burn["commit lag ms"].p99,
      },
      "a worker is killed": {
        "longest pause of other runs, ms": kill["runs of other workers"]["longest pause ms"],
        "longest pause of its own runs, ms": kill["runs of the killed worker"]["longest pause ms"],
      },
    },
    peer: Object.assign({}, ...Object.entries(peers).map(([name, result]) => groupsOf(name, result))),
    targets: [
      atMost("p99 commit lag, ms", own["commit lag ms"].p99, 250),
      atMost("tokens missed or doubled", own.lost.missing + own.lost.doubled, 0),
      atMost("CPU per run, two processes over one", cpu(two) / cpu(one), 1.1),
      atMost("p99 commit lag beside a graph that burns CPU, ms", burn["commit lag ms"].p99, 250),
    ],
  };
}

const perRun = ({ cost }) =>
  cost["CPU ms per run and second, service"] + cost["CPU ms per run and second, postgres"];

function groupsOf(name, result) {
  return {
    [`${name}: token lag ms`]: result["token lag ms"],
    [`${name}: lost`]: result.lost,
    [`${name}: throughput`]: result.throughput,
    [`${name}: refused`]: result.refused,
    [`${name}: cost`]: { ...result.cost, "CPU ms per run and second": perRun(result) },
    [`${name}: memory`]: result.memory,
    [`${name}: load average`]: result["load average"],
  };
}
