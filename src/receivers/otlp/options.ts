/** The receiver's options: the schema for defaults, validation and documentation, its type, and further checks. */
import type { CheckPlace, OptionFault } from '../../component/component.ts';
import { readCertificates } from '../../net/certificates.ts';
import { GRPC_SCHEMA, type GrpcOptions } from './grpc-options.ts';
import { HTTP_SCHEMA, type HttpOptions } from './http-options.ts';
import { type ListenOptions, listenEndpoint } from './listen-options.ts';
import { HEALTH_PATH, pathsOf } from './routes.ts';

export interface OtlpOptions {
  /** At least one. */
  readonly protocols: { readonly http?: HttpOptions; readonly grpc?: GrpcOptions };
}

export const OTLP_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    protocols: {
      type: 'object',
      description: 'The protocols to serve. Only those named here are served.',
      additionalProperties: false,
      minProperties: 1,
      default: { http: {} },
      properties: { http: HTTP_SCHEMA, grpc: GRPC_SCHEMA },
    },
  },
} as const;

/** Checks that the schema cannot express: endpoints that fit their transport, valid certificates, distinct paths. */
export function checkOptions({ protocols: { http, grpc } }: OtlpOptions, place: CheckPlace): readonly OptionFault[] {
  return [
    ...(http === undefined ? [] : [...checkListening('http', http, place), ...checkPaths(http)]),
    ...(grpc === undefined ? [] : checkListening('grpc', grpc, place)),
  ];
}

function checkListening(protocol: string, options: ListenOptions, place: CheckPlace): readonly OptionFault[] {
  const { transport, tls } = options;
  const found = tls === undefined ? [] : readCertificates(tls, place).faults;
  const faults = found.map(({ option, ...rest }) => ({ option: ['protocols', protocol, 'tls', option], ...rest }));
  if (listenEndpoint(options, (path) => place.resolvePath(path)) !== null) return faults;
  const hint =
    transport === 'tcp' ? 'Write unix:// before it, or set transport: unix.' : 'For example /run/sluice.sock.';
  const message = `the endpoint does not fit the transport "${transport}"`;
  return [{ option: ['protocols', protocol, 'endpoint'], severity: 'error', message, hint }, ...faults];
}

function checkPaths(http: HttpOptions): readonly OptionFault[] {
  const taken = new Map<string, string>([[HEALTH_PATH, 'liveness']]);
  return Object.entries(pathsOf(http)).flatMap(([signal, path]) => {
    const other = taken.get(path);
    taken.set(path, signal);
    if (other === undefined) return [];
    const message = `${path} is the path of ${other} already`;
    return [{ option: ['protocols', 'http', `${signal}_url_path`], severity: 'error' as const, message, hint: null }];
  });
}
