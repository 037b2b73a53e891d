/** An option that only the Collector has gets a hint what to do instead, not the name of a similar option. */
import t from 'tap';
import { mistakesOf } from '../support/config-error.ts';

/** The hint for the mistake of each line. */
async function hintsIn(text: string): Promise<readonly (string | undefined)[]> {
  const parts = (await mistakesOf(text)).split(/^config\.yaml:\d+:\d+: error: /mu).slice(1);
  return parts.map((part) => /hint: (.*)/u.exec(part)?.[1]);
}

const configuration = (receiver: string, exporter: string): string => `
receivers: { otlp: { protocols: { http: { ${receiver} } } } }
exporters: { otlp_http: { endpoint: "https://remote.test:4318", ${exporter} }, file: { path: ./x.ndjson } }
service:
  pipelines: { traces: { receivers: [otlp], exporters: [file] } }
`;

t.test('an option of the Collector has a hint that does not weaken TLS or name a similar option', async (t) => {
  const ofReceiver = async (options: string) => hintsIn(configuration(options, ''));
  const ofExporter = async (options: string) => hintsIn(configuration('', options));
  t.match(await ofExporter('tls: { insecure: true }'), [/^leave it out: .*https/u]);
  t.match(await ofExporter('sending_queue: { enabled: true }'), [/outbox/u]);
  t.match(await ofExporter('auth: { authenticator: a }'), [/headers/u]);
  t.match(await ofReceiver('auth: { authenticator: a }'), [/processor auth/u]);
  t.match(await ofReceiver('write_timeout: 5s'), [/^leave it out/u]);
  const tls = 'tls: { cert_file: a.pem, key_file: b.pem, ca_file: c.pem }';
  t.match(await ofReceiver(tls), ['did you mean "client_ca_file"?']);
});

t.test('the unit that a hint proposes gives an allowed value', async (t) => {
  const [hint] = await hintsIn(configuration('cors: { allowed_origins: ["https://a.test"], max_age: 7200 }', ''));
  t.equal(hint, 'give it a unit, such as 7200s');
});
