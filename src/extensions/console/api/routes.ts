/** The list of all routes of the console, by resource. A test checks the security rules for each of them. */
import type { Route } from '../server/route.ts';
import { READING_ROUTES } from './reading-routes.ts';

export const ROUTES: readonly Route[] = [...READING_ROUTES];
