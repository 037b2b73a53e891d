import { QUIET } from '../support/quiet-logger.ts';
import t from 'tap';
import type { Capability } from '../../src/component/capabilities/capability.ts';
import type { Host } from '../../src/component/component.ts';
import type { Definition } from '../../src/component/definition.ts';
import { defineExporter } from '../../src/component/exporter.ts';
import { defineExtension, SERVICE_STATUS, type ServiceStatus } from '../../src/component/extension.ts';
import { defineProcessor } from '../../src/component/processor.ts';
import { defineReceiver, type Pipeline } from '../../src/component/receiver.ts';
import { UserError } from '../../src/errors.ts';
import type { PipelineParts } from '../../src/service/pipeline-parts.ts';
import { Service } from '../../src/service/service.ts';
import { load } from '../support/config-files.ts';

const GREETING: Capability<string> = { name: 'greeting' };
const common = {
  summary: 'S.',
  stability: 'stable',
  example: '{}',
  schema: { type: 'object', additionalProperties: false, properties: { size: { type: 'integer', description: 'S.' } } },
} as const;
const everything = ['traces', 'logs', 'metrics'] as const;

function scene() {
  const events: string[] = [];
  const hosts: Host[] = [];
  const routes: (readonly string[])[] = [];
  const routeMaps: ReadonlyMap<string, unknown>[] = [];
  const failing = new Set<string>();
  const health = { sink: true };
  const lived = (kind: string, host: Host) => {
    hosts.push(host);
    events.push(`create ${kind} ${host.id}`);
    return {
      start: async () => {
        events.push(`start ${kind} ${host.id}`);
        if (failing.has(`${kind} ${host.id}`)) throw new Error('no luck');
      },
      stop: async () => void events.push(`stop ${kind} ${host.id}`),
    };
  };
  const definitions: readonly Definition[] = [
    defineReceiver({
      ...common,
      type: 'r',
      signals: everything,
      create: (_options, host, pipelines) => {
        routes.push([host.id, ...pipelines.keys()]);
        routeMaps.push(pipelines);
        return lived('receiver', host);
      },
    }),
    defineProcessor({
      ...common,
      type: 'p',
      requires: [],
      provides: ['project'],
      create: (_options, host) => lived('processor', host),
    }),
    defineExporter({
      ...common,
      type: 'e',
      requires: [],
      signals: everything,
      create: (_options, host) => ({
        ...lived('exporter', host),
        healthy: () => health.sink,
        reconfigure: () => given.reconfigure(),
        encode: () => {
          throw new Error('not used');
        },
        write: async () => undefined,
      }),
    }),
    defineExtension({
      ...common,
      type: 'x',
      create: (_options, host) => {
        host.capabilities.offer(GREETING, 'hello');
        return lived('extension', host);
      },
    }),
    defineExtension({ ...common, type: 'y', create: (_options, host) => lived('extension', host) }),
  ];
  const given = {
    events,
    hosts,
    routes,
    routeMaps,
    failing,
    health,
    definitions,
    reconfigure: (): (() => void) | null => null,
  };
  return given;
}

const CONFIG = `
extensions: { x: }
receivers: { r: , r/two: }
processors: { p: }
exporters: { e: , e/two: }
service:
  ledger: memory
  extensions: [x]
  pipelines:
    traces: { receivers: [r], processors: [p], exporters: [e, e/two] }
    logs: { receivers: [r, r/two], processors: [p], exporters: [e] }
`;

const metric = { add: () => undefined, record: () => undefined };

async function build(given: ReturnType<typeof scene>) {
  const made: PipelineParts[] = [];
  const config = await load({ 'a.yaml': CONFIG }, { definitions: given.definitions });
  const service = new Service(config, {
    logger: QUIET,
    loggerFor: () => QUIET,
    meter: { counter: () => metric, histogram: () => metric, gauge: () => undefined },
    makePipeline: (parts): Pipeline & { start(): Promise<void>; stop(): Promise<void> } => {
      made.push(parts);
      return {
        signal: parts.signal,
        admit: async () => {
          throw new Error('not used');
        },
        start: async () => void given.events.push(`start pipeline ${parts.id}`),
        stop: async () => void given.events.push(`stop pipeline ${parts.id}`),
      };
    },
    now: () => 1,
    process: { pid: 1, env: {}, kill: () => false },
    resolvePath: (path) => `/base/${path}`,
    fatal: () => undefined,
    firstParts: (_config, _listeners, running) =>
      running.length > 0
        ? running
        : [{ name: 'metrics', component: { start: async () => void given.events.push('start metrics') } }],
  });
  return { service, made };
}

t.test('each id is created once, except processors: once for each pipeline', async (t) => {
  const given = scene();
  const { made } = await build(given);
  t.same(given.events, [
    'create extension x',
    'create processor p',
    'create exporter e',
    'create exporter e/two',
    'create processor p',
    'create receiver r',
    'create receiver r/two',
  ]);
  t.not(made[0]?.processors[0]?.component, made[1]?.processors[0]?.component);
  t.equal(made[0]?.exporters[0]?.component, made[1]?.exporters[0]?.component);
});

t.test('a receiver gets the pipeline of every signal it is used for', async (t) => {
  const given = scene();
  await build(given);
  t.same(given.routes, [
    ['r', 'traces', 'logs'],
    ['r/two', 'logs'],
  ]);
});

t.test('creation starts nothing; receivers start last', async (t) => {
  const given = scene();
  const { service } = await build(given);
  given.events.length = 0;
  await service.start();
  const started = [
    'start metrics',
    'start extension x',
    'start exporter e',
    'start exporter e/two',
    'start processor p',
    'start processor p',
    'start pipeline traces',
    'start pipeline logs',
    'start receiver r',
    'start receiver r/two',
  ];
  t.same(given.events, started);
  given.events.length = 0;
  await service.stop(AbortSignal.any([]));
  t.same(
    given.events,
    started
      .slice(1)
      .reverse()
      .map((event) => event.replace('start', 'stop')),
  );
});

t.test('hosts have the id, the clock, paths and the capabilities of extensions', async (t) => {
  const given = scene();
  await build(given);
  const host = given.hosts.find(({ id }) => id === 'e/two');
  t.equal(host?.now(), 1);
  t.equal(host?.resolvePath('data'), '/base/data');
  t.equal(host?.capabilities.find(GREETING), 'hello');
});

t.test('the service is ready while it runs and every sink is healthy', async (t) => {
  const given = scene();
  const { service } = await build(given);
  const status: ServiceStatus | undefined = given.hosts[0]?.capabilities.find(SERVICE_STATUS);
  t.same(status?.problems(), ['the service is not started']);
  await service.start();
  t.equal(status?.ready(), true);
  given.health.sink = false;
  t.same(status?.problems(), ['exporter e is not healthy', 'exporter e/two is not healthy']);
  t.equal(status?.ready(), false);
  given.health.sink = true;
  await service.stop(AbortSignal.any([]));
  t.same(status?.problems(), ['the service is stopped']);
});

async function reload(
  given: ReturnType<typeof scene>,
  service: Awaited<ReturnType<typeof build>>['service'],
  yaml: string,
) {
  given.events.length = 0;
  await service.reload(await load({ 'a.yaml': yaml }, { definitions: given.definitions }), AbortSignal.any([]));
}

t.test(
  'a reload reuses unchanged components, and replaces the pipelines after the new ones have started',
  async (t) => {
    const given = scene();
    const { service } = await build(given);
    await service.start();
    await reload(given, service, CONFIG);
    t.same(given.events, [
      'start pipeline traces',
      'start pipeline logs',
      'stop pipeline logs',
      'stop pipeline traces',
    ]);
    t.equal(service.ready(), true);
  },
);

t.test('a reload creates a changed component, starts it beside the old one, and stops the old one last', async (t) => {
  const given = scene();
  const { service } = await build(given);
  await service.start();
  await reload(given, service, CONFIG.replace('e/two: }', 'e/two: { size: 2 } }'));
  t.same(given.events, [
    'create exporter e/two',
    'start exporter e/two',
    'start pipeline traces',
    'start pipeline logs',
    'stop pipeline logs',
    'stop pipeline traces',
    'stop exporter e/two',
  ]);
});

t.test('a reload replaces the components that use a changed extension, and no others', async (t) => {
  const given = scene();
  const { service } = await build(given);
  await service.start();
  given.hosts.find(({ id }) => id === 'e/two')?.capabilities.find(GREETING);
  await reload(given, service, CONFIG.replace('x: }', 'x: { size: 2 } }'));
  t.same(
    given.events.filter((event) => event.startsWith('create')),
    ['create extension x', 'create exporter e/two'],
  );
  t.equal(given.hosts.at(-1)?.capabilities.find(GREETING), 'hello');
});

t.test('a reload with a new extension replaces the components that missed a capability', async (t) => {
  const given = scene();
  const { service } = await build(given);
  await service.start();
  const unmet: Capability<string> = { name: 'unmet' };
  t.equal(given.hosts.find(({ id }) => id === 'e/two')?.capabilities.find(unmet), undefined);
  await reload(given, service, CONFIG.replace('{ x: }', '{ x: , y: }').replace('[x]', '[x, y]'));
  t.same(
    given.events.filter((event) => event.startsWith('create')),
    ['create extension y', 'create exporter e/two'],
  );
});

t.test('a reload that cannot start stops its new parts, and the old parts keep running', async (t) => {
  const given = scene();
  const { service } = await build(given);
  await service.start();
  given.failing.add('exporter e/three');
  const more = CONFIG.replace('e/two: }', 'e/two: , e/three: }').replace(
    'exporters: [e] }',
    'exporters: [e, e/three] }',
  );
  await t.rejects(reload(given, service, more), { message: 'no luck' });
  t.same(given.events, ['create exporter e/three', 'start exporter e/three', 'stop exporter e/three']);
  t.equal(service.ready(), true);
  given.failing.clear();
  await reload(given, service, more);
  t.match(given.events, ['create exporter e/three', 'start exporter e/three']);
  given.events.length = 0;
  await service.stop(AbortSignal.any([]));
  t.equal(given.events.filter((event) => event.startsWith('stop exporter')).length, 3);
});

t.test('reused receivers get the new pipelines, and lose removed signals', async (t) => {
  const given = scene();
  const { service } = await build(given);
  await service.start();
  const routes = given.routeMaps[0];
  const before = routes?.get('traces');
  await reload(given, service, CONFIG.replace(/ +logs: .*/u, '').replace('r/two:', ''));
  t.same([...(routes?.keys() ?? [])], ['traces']);
  t.not(routes?.get('traces'), before);
});

t.test('a component may apply new options in place, or require a restart', async (t) => {
  const given = scene();
  const { service } = await build(given);
  await service.start();
  given.reconfigure = () => () => void given.events.push('applied');
  const changed = CONFIG.replace('e/two: }', 'e/two: { size: 2 } }');
  await reload(given, service, changed);
  t.same(
    given.events.filter((event) => !event.includes('pipeline')),
    ['applied'],
  );
  given.reconfigure = () => {
    throw new UserError('not now');
  };
  await t.rejects(reload(given, service, CONFIG), { message: 'not now' });
  t.same(given.events, []);
});
