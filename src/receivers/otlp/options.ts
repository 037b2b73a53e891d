/** The receiver's options: the one schema behind defaults, validation and documentation, and the type that follows from it. */
import { GRPC_SCHEMA, type GrpcOptions } from './grpc-options.ts';
import { HTTP_SCHEMA, type HttpOptions } from './http-options.ts';

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
      description: 'The protocols to serve; each only when it is named here.',
      additionalProperties: false,
      minProperties: 1,
      default: { http: {} },
      properties: { http: HTTP_SCHEMA, grpc: GRPC_SCHEMA },
    },
  },
} as const;
