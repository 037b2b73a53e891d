/** The reader and their rights. */
import { computed, signal } from '@preact/signals';
import type { MeShape, RoleShape } from '../../api/shapes/management.ts';
import { get, loggedIn, send } from '../data/api.ts';

export const me = signal<MeShape | null>(null);

const ORDER: readonly RoleShape[] = ['viewer', 'editor', 'admin'];

export async function loadMe(): Promise<MeShape> {
  const answer = await get<MeShape>('/me');
  me.value = answer;
  loggedIn.value = true;
  return answer;
}

export const may = (role: RoleShape): boolean =>
  me.value !== null && ORDER.indexOf(me.value.role) >= ORDER.indexOf(role);

export const seesContent = computed(() => me.value?.sees_content ?? false);

export async function logOut(): Promise<void> {
  await send('DELETE', '/session');
  me.value = null;
  loggedIn.value = false;
}
