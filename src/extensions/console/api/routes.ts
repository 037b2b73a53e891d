/** The list of all routes of the console, by resource. A test checks the security rules for each of them. */
import type { Route } from '../server/route.ts';

export const ROUTES: readonly Route[] = [];
