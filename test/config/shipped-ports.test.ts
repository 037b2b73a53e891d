// The shipped configurations work side by side: the Collector's in front of the default daemon on one machine.
import { readFileSync } from 'node:fs';
import t from 'tap';

const read = (name: string): string => readFileSync(new URL(`../../../config/${name}`, import.meta.url), 'utf8');
const portsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^(?!\s*#).*?(?:endpoint: "[^"\n]*:|port: )(\d+)\b/gmu)].map(([, port = '']) => port);
/** The default of service.telemetry.metrics.endpoint. */
const METRICS = '8888';

t.test('the Collectors before and behind the default daemon share no port with it', async (t) => {
  const ours = [...portsIn(read('sluice.yaml')), METRICS];
  const theirs = portsIn(read('otelcol.yaml'));
  t.strictSame([...ours].sort(), ['13133', '4317', '4318', '4319', '8888']);
  t.equal(theirs.length, 3);
  const toKafka = portsIn(read('otelcol-kafka.yaml'));
  t.equal(toKafka.length, 2);
  t.strictSame(
    theirs.filter((port) => ours.includes(port)),
    [],
  );
  t.strictSame(
    toKafka.filter((port) => [...ours, ...theirs].includes(port)),
    [],
  );
});

t.test('the image exposes the ports of the default daemon, and nothing in it listens only on loopback', async (t) => {
  const dockerfile = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');
  for (const port of [...portsIn(read('sluice.yaml')), METRICS]) {
    t.match(dockerfile, new RegExp(`^EXPOSE .*\\b${port}\\b`, 'mu'));
    t.match(dockerfile, new RegExp(`endpoint=0\\.0\\.0\\.0:${port}"`, 'u'));
  }
});
