/** The list of shipped components. The configuration can add components of modules. */
import type { Definition } from './component/definition.ts';
import { fileExporter } from './exporters/file/file.ts';
import { objectsExporter } from './exporters/objects/objects.ts';
import { otlpHttpExporter } from './exporters/otlp-http/otlp-http.ts';
import { postgresExporter } from './exporters/postgres/postgres.ts';
import { consoleExtension } from './extensions/console/console.ts';
import { healthCheck } from './extensions/health-check/health-check.ts';
import { postgresExtension } from './extensions/postgres/postgres.ts';
import { auth } from './processors/auth/auth.ts';
import { environment } from './processors/environment/environment.ts';
import { normalization } from './processors/normalization/normalization.ts';
import { pricing } from './processors/pricing/pricing.ts';
import { privacy } from './processors/privacy/privacy.ts';
import { otlp } from './receivers/otlp/otlp.ts';

export const COMPONENTS: readonly Definition[] = [
  otlp,
  auth,
  environment,
  privacy,
  normalization,
  pricing,
  fileExporter,
  postgresExporter,
  objectsExporter,
  otlpHttpExporter,
  postgresExtension,
  healthCheck,
  consoleExtension,
];
