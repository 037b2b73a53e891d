/** Key and endpoint: from the options, else from the environment. */
import t from 'tap';
import { findConnection, urlOf } from '../../src/client/connection.ts';

t.test('options come before the variables of Sluice, and those before the variables of OpenTelemetry', async (t) => {
  const otel = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a,authorization=Bearer%20otel-key',
  };
  const own = { ...otel, SLUICE_KEY: 'own-key', SLUICE_ENDPOINT: 'https://own/base/' };
  const found = (...args: Parameters<typeof findConnection>) => {
    const connection = findConnection(...args);
    return 'problem' in connection ? connection : { key: connection.key, url: urlOf(connection, 'logs').href };
  };
  t.strictSame(found({}, otel), { key: 'otel-key', url: 'http://otel:4318/v1/logs' });
  t.strictSame(found({}, own), { key: 'own-key', url: 'https://own/base/v1/logs' });
  t.strictSame(found({ key: 'k', endpoint: 'http://[::1]:9' }, own), { key: 'k', url: 'http://[::1]:9/v1/logs' });
  t.strictSame(found({}, { SLUICE_KEY: ' k ' }), { key: 'k', url: 'http://127.0.0.1:4318/v1/logs' });
  t.strictSame(found({ key: '' }, { SLUICE_KEY: '', ...otel }), { key: 'otel-key', url: 'http://otel:4318/v1/logs' });
});

t.test('other authorizations, and mistakes, are reported as a problem', async (t) => {
  const problem = (...args: Parameters<typeof findConnection>): string => {
    const connection = findConnection(...args);
    return 'problem' in connection ? connection.problem : '';
  };
  t.match(problem({}, {}), /no API key/u);
  for (const headers of ['Authorization=Basic%20abc', 'authorization', 'x-api-key=abc', '%%%', 'authorization=%zz']) {
    t.match(problem({}, { OTEL_EXPORTER_OTLP_HEADERS: headers }), /no API key/u, headers);
  }
  t.match(problem({ key: 'with\nbreak' }, {}), /characters/u);
  t.match(problem({}, { SLUICE_KEY: 'Bearer slc_a' }), /a space .* without "Bearer"$/u);
  for (const endpoint of ['127.0.0.1:4318', 'ftp://host', 'http://']) {
    t.match(problem({ key: 'k', endpoint }, {}), /is not a URL/u, endpoint);
  }
});
