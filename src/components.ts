/** The visible list of what ships. A component that is not here can still come from a module the configuration names. */
import type { Definition } from './component/definition.ts';
import { healthCheck } from './extensions/health-check/health-check.ts';

export const COMPONENTS: readonly Definition[] = [healthCheck];
