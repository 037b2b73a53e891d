/** The list of all routes of the console, by resource. A test checks the security rules for each of them. */
import type { Route } from '../server/route.ts';
import { JAEGER_ROUTES } from '../jaeger/routes.ts';
import { MCP_ROUTES } from './mcp.ts';
import { PEOPLE_ROUTES } from './people.ts';
import { PROJECT_ROUTES } from './projects.ts';
import { READING_ROUTES } from './reading-routes.ts';
import { SESSION_ROUTES } from './session.ts';
import { STATUS_ROUTES } from './status.ts';
import { TEMPO_ROUTES } from '../tempo/routes.ts';
import { TOKEN_ROUTES } from './tokens.ts';

export const ROUTES: readonly Route[] = [
  ...SESSION_ROUTES,
  ...PROJECT_ROUTES,
  ...TOKEN_ROUTES,
  ...PEOPLE_ROUTES,
  ...STATUS_ROUTES,
  ...READING_ROUTES,
  ...MCP_ROUTES,
  ...TEMPO_ROUTES,
  ...JAEGER_ROUTES,
];
