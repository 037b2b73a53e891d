/**
 * The packages of the OpenTelemetry SDK, which the application installs. They are loaded with `require`, because a
 * static import of a missing package fails before any code can say what to install.
 */
import { createRequire } from 'node:module';
import type * as ApiLogs from '@opentelemetry/api-logs';
import type * as Transformer from '@opentelemetry/otlp-transformer';
import type * as Resources from '@opentelemetry/resources';
import type * as SdkLogs from '@opentelemetry/sdk-logs';
import type * as SdkMetrics from '@opentelemetry/sdk-metrics';
import type * as SdkTrace from '@opentelemetry/sdk-trace-node';

interface Peers {
  readonly '@opentelemetry/api-logs': typeof ApiLogs;
  readonly '@opentelemetry/otlp-transformer': typeof Transformer;
  readonly '@opentelemetry/resources': typeof Resources;
  readonly '@opentelemetry/sdk-logs': typeof SdkLogs;
  readonly '@opentelemetry/sdk-metrics': typeof SdkMetrics;
  readonly '@opentelemetry/sdk-trace-node': typeof SdkTrace;
}

const NAMES: readonly (keyof Peers)[] = [
  '@opentelemetry/api-logs',
  '@opentelemetry/otlp-transformer',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-logs',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace-node',
];

/** All packages, or an error with the command that installs the missing ones. */
function loadPeers(require: NodeJS.Require): Peers {
  const missing = NAMES.filter((name) => !isInstalled(require, name));
  if (missing.length > 0) {
    throw new Error(
      `sluice/client needs packages of the OpenTelemetry SDK that are not installed. Run: npm install ${missing.join(' ')}`,
    );
  }
  return Object.fromEntries(NAMES.map((name) => [name, require(name)])) as unknown as Peers;
}

function isInstalled(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

const peers = loadPeers(createRequire(import.meta.url));
export const apiLogs = peers['@opentelemetry/api-logs'];
export const transformer = peers['@opentelemetry/otlp-transformer'];
export const resources = peers['@opentelemetry/resources'];
export const sdkLogs = peers['@opentelemetry/sdk-logs'];
export const sdkMetrics = peers['@opentelemetry/sdk-metrics'];
export const sdkTrace = peers['@opentelemetry/sdk-trace-node'];
