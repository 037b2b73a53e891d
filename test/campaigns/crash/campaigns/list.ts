/** Every campaign, in the order in which `all` holds them. */
import { ambiguous } from './ambiguous.ts';
import type { Campaign } from './campaign.ts';
import { crowd } from './crowd.ts';
import { database } from './database.ts';
import { file } from './file.ts';
import { kill } from './kill.ts';
import { proxy } from './proxy.ts';
import { twins } from './twins.ts';

export const CAMPAIGNS: readonly Campaign[] = [crowd, twins, ambiguous, proxy, kill, file, database];
